import os
from tillbridge import tillbridge

sign_up_id = os.environ['SIGN_UP_ID']
customer = {
    'firstname': 'Ann',
    'surname': 'Lee',
    'contact': {'email': f'ann.lee+{sign_up_id}@example.com'},
    'emailSubscription': True,
}
response = tillbridge('POST', '/customers', customer, {'Idempotency-Key': f'sign-up-{sign_up_id}'})
print(response['data']['id'])
for warning in response.get('meta', {}).get('warnings', []):
    print(warning['detail'])

import os
from requests.adapters import HTTPAdapter, Retry
from tillbridge import session, tillbridge

# 429 and 503 mean "not done": retry after `Retry-After`. 504 `outcome_unknown` means "perhaps done":
# retry with the same key until the response is final.
retry = Retry(total=5, backoff_factor=1, status_forcelist=[429, 502, 503, 504], allowed_methods=None)
session.mount('https://', HTTPAdapter(max_retries=retry))

sign_up_id = os.environ['SIGN_UP_ID']
key = {'Idempotency-Key': f'retry-{sign_up_id}'}
customer = {'firstname': 'Bo', 'surname': 'Lee', 'contact': {'email': f'bo.lee+{sign_up_id}@example.com'}}
first = tillbridge('POST', '/customers', customer, key)['data']
second = tillbridge('POST', '/customers', customer, key)['data']
assert first['id'] == second['id'], 'the second request returns the first response'
print(second['id'])

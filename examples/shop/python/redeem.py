from uuid import uuid4

from tillbridge import tillbridge

account = tillbridge('GET', '/customers/60001/rewards')['data']
request_id = str(uuid4())
path = f"/rewards/accounts/{account['id']}/redemptions"
tillbridge('POST', path, {'requestId': request_id, 'points': 5, 'seconds': 600})
redemption = tillbridge('POST', f'{path}/{request_id}/confirm', {})['data']
print(redemption['points'], 'points', redemption['status'])

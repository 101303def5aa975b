import os
from tillbridge import tillbridge

order_id = os.environ['ORDER_ID']
lines = [{'sku': 'LINDEN-CREW-OAT-M', 'quantity': 1, 'reasonCode': 'SIZE'}]
key = {'Idempotency-Key': f'return-{order_id}'}
created = tillbridge('POST', f'/orders/{order_id}/returns', {'lines': lines}, key)['data']
print(created['id'], created['status'])

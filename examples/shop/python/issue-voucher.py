import os
from tillbridge import tillbridge

voucher_input = {
    'amount': '50.00',
    'gateway': 'card',
    'senderName': 'Bo',
    'receiverName': 'Ann',
    'receiverEmail': 'ann@example.com',
    'subject': 'Happy birthday',
    'message': 'Enjoy!',
    'billingAddress': {'country': 'Australia'},
}
key = {'Idempotency-Key': f'voucher-{os.environ["BASKET_ID"]}-1'}
voucher = tillbridge('POST', '/vouchers', voucher_input, key)['data']
print(voucher['status'], voucher['number'], voucher['email']['status'])

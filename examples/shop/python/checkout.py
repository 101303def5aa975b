import os
from tillbridge import tillbridge

basket = os.environ['BASKET_ID']
address = {'addressLine1': '111 Collins St', 'city': 'Melbourne', 'postcode': '3000', 'country': 'Australia'}

# 1. Lock the voucher for 15 minutes. With the key, a repeated request returns the same lock.
lock_input = {'pin': '204816', 'amount': '10.00', 'lockSeconds': 900}
lock = tillbridge('PUT', '/vouchers/9100001/lock', lock_input, {'Idempotency-Key': f'lock-{basket}'})['data']

# 2. Take the rest of the payment with your payment provider. Then place the order.
order_input = {
    'customerId': '60001',
    'billingAddress': address,
    'deliveryAddress': address,
    'lines': [{'sku': 'LINDEN-CREW-OAT-M', 'quantity': 1}],
    'payments': [
        {
            'gateway': 'gift-card',
            'amount': '10.00',
            'voucher': {'number': '9100001', 'validationId': lock['validationId']},
        },
        {'gateway': 'paypal', 'amount': '109.95', 'reference': 'PAYID-1'},
    ],
}
order = tillbridge('POST', '/orders', order_input, {'Idempotency-Key': f'basket-{basket}'})['data']
print(order['id'], order['orderNumber'], order['total'])

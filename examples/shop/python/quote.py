import os
from tillbridge import tillbridge

basket = os.environ['BASKET_ID']
address = {'addressLine1': '111 Collins St', 'city': 'Melbourne', 'postcode': '3000', 'country': 'Australia'}
lines = [{'sku': 'LINDEN-CREW-OAT-M', 'quantity': 1}]

# 1. Show the shopper the price of the cart.
quote = tillbridge('POST', '/orders/quote', {'customerId': '60002', 'lines': lines, 'freight': '9.95'})['data']
print(quote['total'])

# 2. Take the payment with your payment provider. Then place the order at this price.
order_input = {
    'customerId': '60002',
    'quoteId': quote['quoteId'],
    'billingAddress': address,
    'deliveryAddress': address,
    'lines': lines,
    'payments': [{'gateway': 'paypal', 'amount': quote['total'], 'reference': 'PAYID-2'}],
}
order = tillbridge('POST', '/orders', order_input, {'Idempotency-Key': f'quoted-{basket}'})['data']
print(order['orderNumber'], order['total'])

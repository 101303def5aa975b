<?php
require 'tillbridge.php';

$basket = getenv('BASKET_ID') ?: throw new RuntimeException('BASKET_ID must be set.');
$address = ['addressLine1' => '111 Collins St', 'city' => 'Melbourne', 'postcode' => '3000', 'country' => 'Australia'];
$lines = [['sku' => 'LINDEN-CREW-OAT-M', 'quantity' => 1]];

// 1. Show the shopper the price of the cart.
$cart = ['customerId' => '60002', 'lines' => $lines, 'freight' => '9.95'];
$quote = tillbridge('POST', '/orders/quote', $cart)['data'];
echo $quote['total'], "\n";

// 2. Take the payment with your payment provider. Then place the order at this price.
$order = tillbridge('POST', '/orders', [
    'customerId' => '60002',
    'quoteId' => $quote['quoteId'],
    'billingAddress' => $address,
    'deliveryAddress' => $address,
    'lines' => $lines,
    'payments' => [['gateway' => 'paypal', 'amount' => $quote['total'], 'reference' => 'PAYID-2']],
], ["Idempotency-Key: quoted-$basket"])['data'];
echo $order['orderNumber'], ' ', $order['total'], "\n";

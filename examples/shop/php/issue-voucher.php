<?php
require 'tillbridge.php';

$basket = getenv('BASKET_ID') ?: throw new RuntimeException('BASKET_ID must be set.');
$voucher = tillbridge('POST', '/vouchers', [
    'amount' => '50.00',
    'gateway' => 'card',
    'senderName' => 'Bo',
    'receiverName' => 'Ann',
    'receiverEmail' => 'ann@example.com',
    'subject' => 'Happy birthday',
    'message' => 'Enjoy!',
    'billingAddress' => ['country' => 'Australia'],
], ["Idempotency-Key: voucher-$basket-1"])['data'];
echo $voucher['status'], ' ', $voucher['number'], ' ', $voucher['email']['status'], "\n";

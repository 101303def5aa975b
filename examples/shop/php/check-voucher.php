<?php
require 'tillbridge.php';

$body = ['number' => '9100001', 'pin' => '204816', 'amount' => '10.00'];
$voucher = tillbridge('POST', '/vouchers/validate', $body, ['X-Shopper-IP: 203.0.113.7'])['data'];
echo 'balance: ', $voucher['availableAmount'], ' ', $voucher['currency'], "\n";

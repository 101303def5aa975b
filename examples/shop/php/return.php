<?php
require 'tillbridge.php';

$orderId = getenv('ORDER_ID') ?: throw new RuntimeException('ORDER_ID must be set.');
$lines = [['sku' => 'LINDEN-CREW-OAT-M', 'quantity' => 1, 'reasonCode' => 'SIZE']];
$return = tillbridge('POST', "/orders/$orderId/returns", ['lines' => $lines], ["Idempotency-Key: return-$orderId"])['data'];
echo $return['id'], ' ', $return['status'], "\n";

<?php
require 'tillbridge.php';

$levels = tillbridge('GET', '/inventory?sku=' . urlencode('LINDEN-CREW-OAT-M'))['data'];
$sellable = array_sum(array_column($levels, 'sellable'));
echo $sellable > 0 ? "in stock: $sellable\n" : "sold out\n";

<?php
require 'tillbridge.php';

foreach (tillbridge('GET', '/stores?limit=2')['data'] as $store) {
    echo $store['storeNumber'], ' ', $store['name'], "\n";
}

<?php
require 'tillbridge.php';

$account = tillbridge('GET', '/customers/60001/rewards')['data'];
$requestId = preg_replace('/^(.{8})(.{4})(.{4})(.{4})(.{12})$/', '$1-$2-$3-$4-$5', bin2hex(random_bytes(16)));
$path = "/rewards/accounts/{$account['id']}/redemptions";
tillbridge('POST', $path, ['requestId' => $requestId, 'points' => 5, 'seconds' => 600]);
$redemption = tillbridge('POST', "$path/$requestId/confirm")['data'];
echo $redemption['points'], ' points ', $redemption['status'], "\n";

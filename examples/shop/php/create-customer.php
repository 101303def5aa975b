<?php
require 'tillbridge.php';

$signUpId = getenv('SIGN_UP_ID') ?: throw new RuntimeException('SIGN_UP_ID must be set.');
$response = tillbridge('POST', '/customers', [
    'firstname' => 'Ann',
    'surname' => 'Lee',
    'contact' => ['email' => "ann.lee+$signUpId@example.com"],
    'emailSubscription' => true,
], ["Idempotency-Key: sign-up-$signUpId"]);
echo $response['data']['id'], "\n";
foreach ($response['meta']['warnings'] ?? [] as $warning) {
    echo $warning['detail'], "\n";
}

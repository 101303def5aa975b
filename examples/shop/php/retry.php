<?php
require 'tillbridge.php';

/**
 * Sends a write until its response is final. 429 and 503 mean "not done". 504 `outcome_unknown` means "perhaps done":
 * a retry with the same key returns the result.
 */
function writeWithRetries(string $method, string $path, array $body, string $key): array
{
    for ($attempt = 1; ; $attempt++) {
        try {
            return tillbridge($method, $path, $body, ["Idempotency-Key: $key"]);
        } catch (TillbridgeError $error) {
            if (!in_array($error->status, [429, 502, 503, 504]) || $attempt === 5) {
                throw $error;
            }
            sleep(2 ** $attempt);
        }
    }
}

$signUpId = getenv('SIGN_UP_ID') ?: throw new RuntimeException('SIGN_UP_ID must be set.');
$customer = ['firstname' => 'Bo', 'surname' => 'Lee', 'contact' => ['email' => "bo.lee+$signUpId@example.com"]];
$first = writeWithRetries('POST', '/customers', $customer, "retry-$signUpId")['data'];
$second = writeWithRetries('POST', '/customers', $customer, "retry-$signUpId")['data'];
echo $first['id'] === $second['id'] ? "created once\n" : "created twice\n";

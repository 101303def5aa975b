<?php

/** Throws if the delivery isn't from Tillbridge, or is older than five minutes. `$headers` has lower-case names. */
function verifyWebhook(string $body, array $headers, string $secret): void
{
    if (abs(time() - (int) ($headers['webhook-timestamp'] ?? 0)) > 300) {
        throw new RuntimeException('too old');
    }
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $signed = "{$headers['webhook-id']}.{$headers['webhook-timestamp']}.$body";
    $expected = base64_encode(hash_hmac('sha256', $signed, $key, true));
    foreach (explode(' ', $headers['webhook-signature']) as $signature) {
        if (hash_equals("v1,$expected", $signature)) {
            return;
        }
    }
    throw new RuntimeException('wrong signature');
}

$body = file_get_contents('php://input');
try {
    verifyWebhook($body, array_change_key_case(getallheaders()), getenv('WEBHOOK_SECRET'));
} catch (RuntimeException $error) {
    http_response_code(400);
    exit($error->getMessage());
}
// Store the changes and respond. Read the records later, at their `path`.
foreach (json_decode($body, true)['data']['changes'] ?? [] as $change) {
    error_log("{$change['kind']} {$change['id']} {$change['action']} {$change['path']}");
}
http_response_code(204);

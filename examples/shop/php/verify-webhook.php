<?php

/** Throws if the delivery isn't from Tillbridge, or is older than five minutes. `$headers` has lower-case names. */
function verifyWebhook(string $body, array $headers, string $secret): void
{
    if (abs(time() - (int) $headers['webhook-timestamp']) > 300) {
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

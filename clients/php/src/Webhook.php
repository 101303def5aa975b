<?php

declare(strict_types=1);

namespace Tillbridge;

/** Verification of webhook deliveries (Standard Webhooks 1.0.0). */
final class Webhook
{
    /** The largest difference between a delivery's timestamp and our clock. */
    private const TOLERANCE_SECONDS = 300;

    /**
     * Verifies the signature and the age of a delivery. Returns its body.
     *
     * @param string $body the raw body, before any parsing
     * @param array<string, string> $headers the headers; upper and lower case don't matter
     * @param string ...$secrets `whsec_…`; during a rotation, the old one and the new one
     * @throws \UnexpectedValueException if the delivery isn't from the service, or is too old
     */
    public static function verify(string $body, array $headers, string ...$secrets): array
    {
        $headers = array_change_key_case($headers);
        foreach (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as $name) {
            if (($headers[$name] ?? '') === '') {
                throw new \UnexpectedValueException("The header $name is missing.");
            }
        }
        $timestamp = $headers['webhook-timestamp'];
        if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > self::TOLERANCE_SECONDS) {
            $seconds = self::TOLERANCE_SECONDS;
            throw new \UnexpectedValueException("The timestamp must be within $seconds seconds of this clock.");
        }
        foreach ($secrets as $secret) {
            $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
            if ($key === false || $key === '') {
                throw new \UnexpectedValueException('A secret must be `whsec_` followed by base64.');
            }
            $signed = "{$headers['webhook-id']}.$timestamp.$body";
            $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
            foreach (explode(' ', $headers['webhook-signature']) as $signature) {
                if (hash_equals($expected, $signature)) {
                    return json_decode($body, true, flags: JSON_THROW_ON_ERROR);
                }
            }
        }
        throw new \UnexpectedValueException('No signature matches a secret.');
    }
}

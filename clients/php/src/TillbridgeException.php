<?php

declare(strict_types=1);

namespace Tillbridge;

/** The error of a failed call. `errorCode` is stable: branch on it. */
final class TillbridgeException extends \RuntimeException
{
    private const MESSAGES = [
        'no_response' => 'No response from the service.',
        'certificate_rejected' => "The service's certificate is not trusted. Pass its authority as `verify`.",
        'unexpected_response' => 'The response is not from the service. Check the URL.',
        'outcome_unknown' => 'The outcome is unknown. Retry with the same idempotency key.',
    ];

    /** Every validation error of the request, each with `pointer` and `detail`. */
    public readonly array $errors;
    /** The request ID, for support. */
    public readonly ?string $requestId;

    /**
     * @param string $errorCode a code of the API's catalogue, or `no_response`, `certificate_rejected` or `unexpected_response`
     * @param ?int $status the HTTP status, or null if no response arrived
     * @param array $problem the complete error body (RFC 9457)
     * @param ?int $retryAfter seconds to wait before a retry
     * @param ?string $idempotencyKey the idempotency key of the write
     */
    public function __construct(
        public readonly string $errorCode,
        public readonly ?int $status = null,
        public readonly array $problem = [],
        public readonly ?int $retryAfter = null,
        public readonly ?string $idempotencyKey = null,
        ?\Throwable $previous = null,
    ) {
        $this->errors = $problem['errors'] ?? [];
        $this->requestId = $problem['requestId'] ?? null;
        $message = $problem['detail'] ?? $problem['title'] ?? self::MESSAGES[$errorCode] ?? 'The call failed.';
        parent::__construct("$message ($errorCode)", 0, $previous);
    }
}

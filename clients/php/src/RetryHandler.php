<?php

declare(strict_types=1);

namespace Tillbridge;

use GuzzleHttp\Exception\TransferException;
use GuzzleHttp\Promise\Create;
use GuzzleHttp\Promise\PromiseInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;

/**
 * A Guzzle handler that adds an idempotency key to each POST and retries what is safe to retry.
 * All attempts of a write share one key, so it takes effect once. Throws TillbridgeException for each error response,
 * and if no response arrives.
 */
final class RetryHandler
{
    private const RETRY = [
        'request_timeout',
        'rate_limited',
        'concurrent_update',
        'service_unavailable',
        'back_office_unavailable',
    ];
    /** A write with one of these codes may have been carried out. A retry with its key finds out. */
    private const RECONCILE = ['idempotency_in_progress', 'outcome_unknown', 'no_response'];
    /** Codes of responses that were sent before the service looked up the idempotency key. */
    private const BEFORE_THE_WRITE = [
        'unexpected_response',
        'certificate_rejected',
        'service_not_assigned',
        'insufficient_role',
    ];
    private const BASE_DELAY_SECONDS = 0.25;
    private const MAX_DELAY_SECONDS = 10.0;
    /** curl's CURLE_PEER_FAILED_VERIFICATION. */
    private const CURL_CERTIFICATE_ERROR = 60;

    /** @var callable(RequestInterface, array): PromiseInterface */
    private $send;

    public function __construct(
        callable $send,
        private readonly float $retrySeconds,
        private readonly float $reconcileSeconds,
    ) {
        $this->send = $send;
    }

    public function __invoke(RequestInterface $request, array $options): PromiseInterface
    {
        $takesKey = $request->getMethod() === 'POST' || str_ends_with($request->getUri()->getPath(), '/lock');
        if ($takesKey && !$request->hasHeader('Idempotency-Key')) {
            $request = $request->withHeader('Idempotency-Key', bin2hex(random_bytes(16)));
        }
        $startedAt = microtime(true);
        $isUnknown = false;
        for ($attempts = 0; ; $attempts++) {
            $result = $this->attempt($request, $options);
            if ($result instanceof ResponseInterface) {
                return Create::promiseFor($result);
            }
            $code = $result->errorCode;
            $isGatewayError = $code === 'unexpected_response' && in_array($result->status, [502, 503, 504], true);
            $needsReconciling = $isGatewayError || in_array($code, self::RECONCILE, true);
            if (!$needsReconciling && !in_array($code, self::RETRY, true)) {
                throw $isUnknown && self::leavesOutcomeOpen($request, $result) ? self::outcomeUnknown($result) : $result;
            }
            $isUnknown = $isUnknown || ($needsReconciling && $request->getMethod() !== 'GET');
            $delay = min(self::MAX_DELAY_SECONDS, self::BASE_DELAY_SECONDS * 2 ** $attempts);
            $delay = max($delay * random_int(500, 1000) / 1000, $result->retryAfter ?? 0);
            $limit = $isUnknown ? max($this->reconcileSeconds, $this->retrySeconds) : $this->retrySeconds;
            if (microtime(true) + $delay > $startedAt + $limit) {
                throw $isUnknown ? self::outcomeUnknown($result) : $result;
            }
            usleep((int) ($delay * 1_000_000));
        }
    }

    private function attempt(RequestInterface $request, array $options): ResponseInterface|TillbridgeException
    {
        $key = $request->getHeaderLine('Idempotency-Key') ?: null;
        $request->getBody()->rewind();
        try {
            $response = ($this->send)($request, $options)->wait();
        } catch (TransferException $error) {
            $context = method_exists($error, 'getHandlerContext') ? $error->getHandlerContext() : [];
            $isCertificate = ($context['errno'] ?? 0) === self::CURL_CERTIFICATE_ERROR;
            $code = $isCertificate ? 'certificate_rejected' : 'no_response';
            return new TillbridgeException($code, idempotencyKey: $key, previous: $error);
        }
        $status = $response->getStatusCode();
        if ($status < 400) {
            return $response;
        }
        $problem = json_decode((string) $response->getBody(), true);
        $isProblem = is_array($problem) && is_string($problem['code'] ?? null);
        $seconds = $response->getHeaderLine('Retry-After');
        return new TillbridgeException(
            $isProblem ? $problem['code'] : 'unexpected_response',
            $status,
            $isProblem ? $problem : [],
            ctype_digit($seconds) ? (int) $seconds : null,
            $key,
        );
    }

    private static function outcomeUnknown(TillbridgeException $cause): TillbridgeException
    {
        return new TillbridgeException(
            'outcome_unknown',
            retryAfter: $cause->retryAfter,
            idempotencyKey: $cause->idempotencyKey,
            previous: $cause,
        );
    }

    /** Returns true if an error says nothing about the outcome of an earlier attempt. */
    private static function leavesOutcomeOpen(RequestInterface $request, TillbridgeException $error): bool
    {
        $status = $error->status ?? 0;
        // The earlier attempt may have changed or deleted the record.
        if ($status === 412 || ($request->getMethod() === 'DELETE' && $status === 404)) {
            return true;
        }
        return $status >= 500
            || in_array($status, [401, 429], true)
            || in_array($error->errorCode, self::BEFORE_THE_WRITE, true);
    }
}

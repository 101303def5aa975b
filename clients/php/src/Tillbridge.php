<?php

declare(strict_types=1);

namespace Tillbridge;

use GuzzleHttp\Client;
use GuzzleHttp\Handler\CurlHandler;
use Tillbridge\Generated\Api\ChangesApi;
use Tillbridge\Generated\Configuration;

/** The connection to one service of an installation. */
final class Tillbridge
{
    /** How many seconds the service waits for a change before it returns an empty page. */
    private const FOLLOW_WAIT_SECONDS = 20;

    private readonly Client $http;
    private readonly Configuration $configuration;

    /**
     * @param string $url the base URL, such as `https://api.example.com`
     * @param string $apiKey the account's API key: base64 of username and password
     * @param string $service the name of one of the account's services
     * @param bool|string $verify a file with the authority of the service's certificate, if the system doesn't trust it
     * @param float $timeout seconds per attempt; longer than the 20 seconds that `follow` waits
     * @param float $retrySeconds for how long a call without effect is retried
     * @param float $reconcileSeconds for how long a write with an unknown outcome is retried
     */
    public function __construct(
        string $url,
        string $apiKey,
        string $service,
        bool|string $verify = true,
        float $timeout = 30.0,
        float $retrySeconds = 60.0,
        float $reconcileSeconds = 120.0,
    ) {
        $this->configuration = (new Configuration())->setHost(rtrim($url, '/'));
        // The generated serializer reads only the default configuration.
        Configuration::getDefaultConfiguration()->setBooleanFormatForQueryString(Configuration::BOOLEAN_FORMAT_STRING);
        $this->http = new Client([
            'handler' => new RetryHandler(new CurlHandler(), $retrySeconds, $reconcileSeconds),
            'headers' => ['Authorization' => "Basic $apiKey", 'X-Service-Name' => $service],
            'timeout' => $timeout,
            'verify' => $verify,
        ]);
    }

    /**
     * Creates the calls of one group of operations, such as `CustomersApi::class`.
     *
     * @template Api of object
     * @param class-string<Api> $class
     * @return Api
     */
    public function api(string $class): object
    {
        return new $class($this->http, $this->configuration);
    }

    /**
     * Yields the records of a list. A page is requested when it is needed.
     *
     * @param callable(?string): object $list requests the page after a cursor
     */
    public static function records(callable $list): \Generator
    {
        $cursor = null;
        do {
            $page = $list($cursor);
            // The keys of pages would repeat.
            foreach ($page->getData() as $record) {
                yield $record;
            }
            $cursor = $page->getMeta()->getEndCursor();
        } while ($page->getMeta()->getHasNextPage());
    }

    /**
     * Yields all changes, endlessly, also across outages shorter than `retrySeconds`. Each change comes at least once.
     * Throws `cursor_expired` if the cursor is too old: start without it.
     *
     * @param ?string $kinds the kinds of records, such as `customer,inventory`; null for all
     * @param ?string $cursor the cursor that `save` received last
     * @param ?callable(string): mixed $save stores a cursor after all changes before it have been handled
     */
    public function follow(?string $kinds = null, ?string $cursor = null, ?callable $save = null): \Generator
    {
        $changes = $this->api(ChangesApi::class);
        while (true) {
            $page = $changes->listChanges(wait: self::FOLLOW_WAIT_SECONDS, kinds: $kinds, afterCursor: $cursor);
            foreach ($page->getData() as $change) {
                yield $change;
            }
            $next = $page->getMeta()->getEndCursor();
            // The caller requests the next change only after it has handled this page.
            if ($next !== null && $next !== $cursor) {
                $cursor = $next;
                $save === null || $save($cursor);
            }
        }
    }
}

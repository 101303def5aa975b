<?php

/**
 * Tests of the client against a running service (scripts/clients/clients.test.ts). TILLBRIDGE_LOSES and
 * TILLBRIDGE_LOSES_TOO are URLs of proxies that lose one response, and the first one then cuts off another response.
 * TILLBRIDGE_WEBHOOK is a delivery: its body, headers and secret.
 */

declare(strict_types=1);

use Tillbridge\Generated\Api\CustomersApi;
use Tillbridge\Generated\Api\StoresApi;
use Tillbridge\Generated\Model\CustomerInput;
use Tillbridge\Generated\Model\CustomerInputContact;
use Tillbridge\Tillbridge;
use Tillbridge\TillbridgeException;
use Tillbridge\Webhook;

require getenv('TILLBRIDGE_AUTOLOAD');

function connect(string $variable = 'TILLBRIDGE_URL', mixed ...$options): Tillbridge
{
    $options += ['verify' => getenv('TILLBRIDGE_CA')];
    return new Tillbridge(getenv($variable), getenv('TILLBRIDGE_API_KEY'), getenv('TILLBRIDGE_SERVICE'), ...$options);
}

function newCustomer(string $surname): CustomerInput
{
    $contact = new CustomerInputContact(['email' => bin2hex(random_bytes(8)) . '@example.com']);
    return new CustomerInput(['firstname' => 'Ann', 'surname' => $surname, 'contact' => $contact]);
}

function countCustomers(string $surname): int
{
    $customers = connect()->api(CustomersApi::class);
    $list = fn ($cursor) => $customers->searchCustomers(name: $surname, afterCursor: $cursor);
    return count(iterator_to_array(Tillbridge::records($list), false));
}

function expectError(callable $call): \Throwable
{
    try {
        $call();
    } catch (TillbridgeException | \UnexpectedValueException $error) {
        return $error;
    }
    throw new \Exception('No error was thrown.');
}

function check(bool $condition, string $title): void
{
    $condition || throw new \Exception("Failed: $title");
    echo "ok: $title\n";
}

$stores = connect()->api(StoresApi::class);
$list = fn ($cursor) => $stores->listStores(limit: 1, afterCursor: $cursor);
$ids = array_map(fn ($store) => $store->getStoreId(), iterator_to_array(Tillbridge::records($list), false));
check(count($ids) > 1 && $ids === array_unique($ids), 'reads all pages');

$customer = connect('TILLBRIDGE_LOSES')->api(CustomersApi::class)->createCustomer(newCustomer('LostPhp'))->getData();
check($customer->getSurname() === 'LostPhp' && countCustomers('LostPhp') === 1, 'creates a customer once');

$customers = connect('TILLBRIDGE_LOSES_TOO', retrySeconds: 0, reconcileSeconds: 0)->api(CustomersApi::class);
$body = newCustomer('UnknownPhp');
$error = expectError(fn () => $customers->createCustomer($body));
check($error->errorCode === 'outcome_unknown', 'reports an unknown outcome');
$customers->createCustomer($body, idempotencyKey: $error->idempotencyKey);
check(countCustomers('UnknownPhp') === 1, 'the key of an unknown outcome finds out');

$cursors = [];
$changes = connect()->follow(kinds: 'customer', save: function ($cursor) use (&$cursors) {
    $cursors[] = $cursor;
});
foreach (['BeforePhp', 'AfterPhp'] as $surname) {
    $lastId = connect()->api(CustomersApi::class)->createCustomer(newCustomer($surname))->getData()->getId();
    while ($changes->current()->getId() !== $lastId) {
        $changes->next();
    }
}
$resumed = connect()->follow(kinds: 'customer', cursor: end($cursors));
check($resumed->current()->getId() === $lastId, 'follows changes and resumes at the saved cursor');

$contact = new CustomerInputContact(['email' => 'ann']);
$invalid = new CustomerInput(['firstname' => 'Ann', 'surname' => 'Lee', 'contact' => $contact]);
$error = expectError(fn () => connect()->api(CustomersApi::class)->createCustomer($invalid));
check(in_array('/contact/email', array_column($error->errors, 'pointer'), true), 'lists the errors of a request');

$error = expectError(fn () => connect(verify: true)->api(StoresApi::class)->listStores());
check($error->errorCode === 'certificate_rejected', 'reports an untrusted certificate');

['body' => $body, 'headers' => $headers, 'secret' => $secret] = json_decode(getenv('TILLBRIDGE_WEBHOOK'), true);
check(Webhook::verify($body, $headers, $secret)['type'] === 'records.changed', 'verifies a webhook');
foreach ([["$body ", $headers], [$body, ['webhook-timestamp' => '1'] + array_change_key_case($headers)], [$body, []]] as $wrong) {
    check(expectError(fn () => Webhook::verify(...[...$wrong, $secret])) instanceof \UnexpectedValueException, 'rejects a forged webhook');
}

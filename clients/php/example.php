<?php

/**
 * Places an order and reads the changes since then.
 *
 * Needs TILLBRIDGE_URL, TILLBRIDGE_API_KEY and TILLBRIDGE_SERVICE, and TILLBRIDGE_CA if the system doesn't trust the
 * service's certificate. Run it with the ID of a customer, a SKU and its price: php example.php 65432 HOOD-S 29.99
 */

declare(strict_types=1);

use Tillbridge\Generated\Api\CustomersApi;
use Tillbridge\Generated\Api\InventoryApi;
use Tillbridge\Generated\Api\OrdersApi;
use Tillbridge\Generated\Api\StoresApi;
use Tillbridge\Generated\Model\OrderInput;
use Tillbridge\Generated\Model\OrderLineInput;
use Tillbridge\Generated\Model\OrderPaymentInput;
use Tillbridge\Generated\Model\PostalAddress;
use Tillbridge\Tillbridge;
use Tillbridge\TillbridgeException;

require getenv('TILLBRIDGE_AUTOLOAD') ?: __DIR__ . '/vendor/autoload.php';

[, $customerId, $sku, $price] = $argv;
$shop = new Tillbridge(
    getenv('TILLBRIDGE_URL'),
    getenv('TILLBRIDGE_API_KEY'),
    getenv('TILLBRIDGE_SERVICE'),
    verify: getenv('TILLBRIDGE_CA') ?: true,
);

$stores = $shop->api(StoresApi::class);
foreach (Tillbridge::records(fn ($cursor) => $stores->listStores(afterCursor: $cursor)) as $store) {
    echo "Store {$store->getStoreNumber()} {$store->getName()}\n";
}

$inventory = $shop->api(InventoryApi::class);
$sellable = 0;
foreach (Tillbridge::records(fn ($cursor) => $inventory->listInventory(sku: $sku, afterCursor: $cursor)) as $level) {
    $sellable += $level->getSellable();
}
echo "Sellable $sellable\n";

try {
    $shop->api(CustomersApi::class)->getCustomer('no-such-customer');
} catch (TillbridgeException $error) {
    echo "Error {$error->errorCode}\n";
}

$address = new PostalAddress([
    'addressLine1' => '111 Collins St',
    'city' => 'Melbourne',
    'postcode' => '3000',
    'country' => 'Australia',
]);
$orderInput = new OrderInput([
    'customerId' => $customerId,
    'billingAddress' => $address,
    'deliveryAddress' => $address,
    'lines' => [new OrderLineInput(['sku' => $sku, 'quantity' => 1])],
    'payments' => [new OrderPaymentInput(['gateway' => 'paypal', 'amount' => $price, 'reference' => 'PAYID-1'])],
]);
$order = $shop->api(OrdersApi::class)->placeOrder($orderInput, idempotencyKey: 'basket-4712')->getData();
echo "Order {$order->getId()} {$order->getTotal()}\n";

foreach ($shop->follow(kinds: 'order', save: fn ($cursor) => print("Cursor $cursor\n")) as $change) {
    echo "Change {$change->getKind()} {$change->getId()}\n";
    if ($change->getId() === $order->getId()) {
        break;
    }
}

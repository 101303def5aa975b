using System;
using System.Collections.Generic;
using System.Linq;
using Tillbridge;
using Tillbridge.Generated.Api;
using Tillbridge.Generated.Model;

/// <summary>
/// Places an order and reads the changes since then. Needs TILLBRIDGE_URL, TILLBRIDGE_API_KEY and TILLBRIDGE_SERVICE, and
/// TILLBRIDGE_CERTIFICATE if the system doesn't trust the service's certificate. Run it with the ID of a customer, a SKU and
/// its price.
/// </summary>
public static class Example
{
    private static string Read(string name) => Environment.GetEnvironmentVariable("TILLBRIDGE_" + name);

    public static void Main(string[] arguments)
    {
        var (customerId, sku, price) = (arguments[0], arguments[1], arguments[2]);
        var handler = Certificates.Accept(Read("CERTIFICATE"));
        using (var shop = new TillbridgeClient(Read("URL"), Read("API_KEY"), Read("SERVICE"), handler))
        {
            var stores = shop.Api((http, configuration) => new StoresApi(http, configuration));
            var allStores = TillbridgeClient.Records(
                cursor => stores.ListStores(afterCursor: cursor), page => page.Data, page => page.Meta);
            foreach (var store in allStores) Console.WriteLine($"Store {store.StoreNumber} {store.Name}");

            var inventory = shop.Api((http, configuration) => new InventoryApi(http, configuration));
            var levels = TillbridgeClient.Records(
                cursor => inventory.ListInventory(sku: sku, afterCursor: cursor), page => page.Data, page => page.Meta);
            Console.WriteLine($"Sellable {levels.Sum(level => level.Sellable)}");

            try
            {
                shop.Api((http, configuration) => new CustomersApi(http, configuration)).GetCustomer("no-such-customer");
            }
            catch (TillbridgeException error)
            {
                Console.WriteLine($"Error {error.Code}");
            }

            var address = new PostalAddress(
                addressLine1: "111 Collins St", city: "Melbourne", postcode: "3000", country: "Australia");
            var input = new OrderInput(
                customerId: customerId,
                billingAddress: address,
                deliveryAddress: address,
                lines: new List<OrderLineInput> { new OrderLineInput(sku, 1) },
                payments: new List<OrderPaymentInput> { new OrderPaymentInput("paypal", price, "PAYID-1") });
            var orders = shop.Api((http, configuration) => new OrdersApi(http, configuration));
            var order = orders.PlaceOrder(input, idempotencyKey: "basket-4713").Data;
            Console.WriteLine($"Order {order.Id} {order.Total}");

            foreach (var change in shop.Follow("order", save: cursor => Console.WriteLine($"Cursor {cursor}")))
            {
                Console.WriteLine($"Change {change.Kind.ToString().ToLowerInvariant()} {change.Id}");
                if (change.Id == order.Id) break;
            }
        }
    }
}

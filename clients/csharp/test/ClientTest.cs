using System;
using System.Collections.Generic;
using System.Linq;
using System.Net.Http;
using Newtonsoft.Json.Linq;
using Tillbridge;
using Tillbridge.Generated.Api;
using Tillbridge.Generated.Model;

/// <summary>
/// Tests of the client against a running service (scripts/clients/clients.test.ts). TILLBRIDGE_LOSES and
/// TILLBRIDGE_LOSES_TOO are URLs of proxies that lose one response, and the first one then cuts off another response.
/// TILLBRIDGE_WEBHOOK is a delivery: its body, headers and secret.
/// </summary>
public static class ClientTest
{
    private static string Read(string name) => Environment.GetEnvironmentVariable("TILLBRIDGE_" + name);

    private static TillbridgeClient Connect(string url, double seconds = 60, HttpMessageHandler handler = null) =>
        new TillbridgeClient(
            Read(url),
            Read("API_KEY"),
            Read("SERVICE"),
            handler ?? Certificates.Accept(Read("CERTIFICATE")),
            30,
            seconds,
            seconds);

    private static CustomersApi Customers(TillbridgeClient shop) =>
        shop.Api((http, configuration) => new CustomersApi(http, configuration));

    private static StoresApi Stores(TillbridgeClient shop) =>
        shop.Api((http, configuration) => new StoresApi(http, configuration));

    private static CustomerInput NewCustomer(string surname, string email = null) =>
        new CustomerInput(
            firstname: "Ann",
            surname: surname,
            contact: new CustomerInputContact(email: email ?? Guid.NewGuid() + "@example.com"));

    private static int CountCustomers(string surname)
    {
        var customers = Customers(Connect("URL"));
        return TillbridgeClient.Records(
            cursor => customers.SearchCustomers(name: surname, afterCursor: cursor),
            page => page.Data,
            page => page.Meta).Count();
    }

    private static T ExpectError<T>(Action call) where T : Exception
    {
        try
        {
            call();
        }
        catch (T error)
        {
            return error;
        }
        throw new Exception("No error was thrown.");
    }

    private static void Check(bool condition, string title)
    {
        if (!condition) throw new Exception("Failed: " + title);
        Console.WriteLine("ok: " + title);
    }

    public static void Main()
    {
        var stores = Stores(Connect("URL"));
        var ids = TillbridgeClient.Records(
            cursor => stores.ListStores(limit: 1, afterCursor: cursor),
            page => page.Data,
            page => page.Meta).Select(store => store.StoreId).ToList();
        Check(ids.Count > 1 && ids.Distinct().Count() == ids.Count, "reads all pages");

        var customer = Customers(Connect("LOSES")).CreateCustomer(NewCustomer("LostCsharp")).Data;
        Check(customer.Surname == "LostCsharp" && CountCustomers("LostCsharp") == 1, "creates a customer once");

        var impatient = Customers(Connect("LOSES_TOO", 0));
        var body = NewCustomer("UnknownCsharp");
        var unknown = ExpectError<TillbridgeException>(() => impatient.CreateCustomer(body));
        Check(unknown.Code == "outcome_unknown", "reports an unknown outcome");
        impatient.CreateCustomer(body, idempotencyKey: unknown.IdempotencyKey);
        Check(CountCustomers("UnknownCsharp") == 1, "the key of an unknown outcome finds out");

        var cursors = new List<string>();
        string lastId = null;
        using (var shop = Connect("URL"))
        {
            using (var changes = shop.Follow("customer", save: cursors.Add).GetEnumerator())
                foreach (var surname in new[] { "BeforeCsharp", "AfterCsharp" })
                {
                    lastId = Customers(shop).CreateCustomer(NewCustomer(surname)).Data.Id;
                    while (changes.MoveNext() && changes.Current.Id != lastId)
                    {
                    }
                }
            var resumed = shop.Follow("customer", cursors.Last()).First();
            Check(resumed.Id == lastId, "follows changes and resumes at the saved cursor");
        }

        var invalid = ExpectError<TillbridgeException>(
            () => Customers(Connect("URL")).CreateCustomer(NewCustomer("Lee", "ann")));
        Check(invalid.Errors.Any(error => (string)error["pointer"] == "/contact/email"), "lists the errors of a request");

        var handler = new HttpClientHandler();
        var untrusted = ExpectError<TillbridgeException>(() => Stores(Connect("URL", handler: handler)).ListStores());
        Check(untrusted.Code == "certificate_rejected", "reports an untrusted certificate");

        var delivery = JObject.Parse(Read("WEBHOOK"));
        var (text, secret) = ((string)delivery["body"], (string)delivery["secret"]);
        var headers = delivery["headers"].ToObject<Dictionary<string, string>>();
        Check((string)WebhookVerifier.Verify(text, headers, secret)["type"] == "records.changed", "verifies a webhook");
        var old = new Dictionary<string, string>(headers) { ["Webhook-Timestamp"] = "1" };
        ExpectError<WebhookException>(() => WebhookVerifier.Verify(text + " ", headers, secret));
        ExpectError<WebhookException>(() => WebhookVerifier.Verify(text, old, secret));
        ExpectError<WebhookException>(() => WebhookVerifier.Verify(text, new Dictionary<string, string>(), secret));
        Check(true, "rejects forged webhooks");
    }
}

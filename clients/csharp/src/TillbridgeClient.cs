using System;
using System.Collections.Generic;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Threading;
using Tillbridge.Generated.Api;
using Tillbridge.Generated.Client;
using Tillbridge.Generated.Model;

namespace Tillbridge
{
    /// <summary>The connection to one service of an installation.</summary>
    public sealed class TillbridgeClient : IDisposable
    {
        /// <summary>How many seconds the service waits for a change before it returns an empty page.</summary>
        private const int FollowWaitSeconds = 20;

        private readonly HttpClient _http;
        private readonly Configuration _configuration;

        /// <param name="url">The base URL, such as <c>https://api.example.com</c>.</param>
        /// <param name="apiKey">The account's API key: base64 of username and password.</param>
        /// <param name="service">The name of one of the account's services.</param>
        /// <param name="handler">Sends the requests. Set its certificate validation if the system doesn't trust the service.</param>
        /// <param name="timeoutSeconds">Seconds per attempt. It must be longer than the 20 seconds that <c>Follow</c> waits.</param>
        /// <param name="retrySeconds">For how long a call without effect is retried.</param>
        /// <param name="reconcileSeconds">For how long a write with an unknown outcome is retried.</param>
        public TillbridgeClient(
            string url,
            string apiKey,
            string service,
            HttpMessageHandler handler = null,
            double timeoutSeconds = 30,
            double retrySeconds = 60,
            double reconcileSeconds = 120)
        {
            var retries = new RetryHandler(handler ?? new HttpClientHandler(), timeoutSeconds, retrySeconds, reconcileSeconds);
            // The handler limits each attempt.
            _http = new HttpClient(retries) { Timeout = Timeout.InfiniteTimeSpan };
            _http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Basic", apiKey);
            _http.DefaultRequestHeaders.Add("X-Service-Name", service);
            _configuration = new Configuration { BasePath = url.TrimEnd('/'), Timeout = Timeout.InfiniteTimeSpan };
        }

        /// <summary>Creates the calls of one group of operations: <c>Api((http, configuration) => new StoresApi(http, configuration))</c>.</summary>
        public T Api<T>(Func<HttpClient, Configuration, T> create) => create(_http, _configuration);

        /// <summary>Yields the records of a list. A page is requested when it is needed.</summary>
        /// <param name="list">Requests the page after a cursor.</param>
        /// <param name="data">Returns the records of a page.</param>
        /// <param name="meta">Returns the state of the list.</param>
        public static IEnumerable<T> Records<TPage, T>(
            Func<string, TPage> list, Func<TPage, List<T>> data, Func<TPage, ListMeta> meta)
        {
            string cursor = null;
            while (true)
            {
                var page = list(cursor);
                foreach (var record in data(page)) yield return record;
                if (!meta(page).HasNextPage) yield break;
                cursor = meta(page).EndCursor;
            }
        }

        /// <summary>
        /// Yields all changes, endlessly, also across outages shorter than <c>retrySeconds</c>. Each change comes at least
        /// once. Throws <c>cursor_expired</c> if the cursor is too old: start without it.
        /// </summary>
        /// <param name="kinds">The kinds of records, such as <c>customer,inventory</c>. Null for all.</param>
        /// <param name="cursor">The cursor that <c>save</c> received last.</param>
        /// <param name="save">Stores a cursor after all changes before it have been handled.</param>
        public IEnumerable<RecordChange> Follow(string kinds = null, string cursor = null, Action<string> save = null)
        {
            var changes = Api((http, configuration) => new ChangesApi(http, configuration));
            while (true)
            {
                var page = changes.ListChanges(kinds: kinds, afterCursor: cursor, wait: FollowWaitSeconds);
                foreach (var change in page.Data) yield return change;
                // The caller requests the next change only after it has handled this page.
                var next = page.Meta.EndCursor;
                if (next == null || next == cursor) continue;
                cursor = next;
                save?.Invoke(cursor);
            }
        }

        /// <summary>Closes the connections.</summary>
        public void Dispose() => _http.Dispose();
    }
}

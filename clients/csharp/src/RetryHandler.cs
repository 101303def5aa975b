using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Security.Authentication;
using System.Threading;
using System.Threading.Tasks;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace Tillbridge
{
    /// <summary>
    /// Adds an idempotency key to each POST, and retries what is safe to retry. All attempts of a write share one key, so
    /// it takes effect once. Throws <see cref="TillbridgeException" /> for each error response, and if no response arrives.
    /// </summary>
    internal sealed class RetryHandler : DelegatingHandler
    {
        private const string KeyHeader = "Idempotency-Key";
        private const double BaseDelaySeconds = 0.25;
        private const double MaxDelaySeconds = 10;

        private static readonly HashSet<string> Retry = new HashSet<string>
        {
            "request_timeout", "rate_limited", "concurrent_update", "service_unavailable", "back_office_unavailable",
        };

        /// <summary>A write with one of these codes may have been carried out. A retry with its key finds out.</summary>
        private static readonly HashSet<string> Reconcile = new HashSet<string>
        {
            "idempotency_in_progress", "outcome_unknown", "no_response",
        };

        /// <summary>Codes of responses that were sent before the service looked up the idempotency key.</summary>
        private static readonly HashSet<string> BeforeTheWrite = new HashSet<string>
        {
            "unexpected_response", "certificate_rejected", "service_not_assigned", "insufficient_role",
        };

        private static readonly Random Jitter = new Random();

        private readonly double _timeoutSeconds;
        private readonly double _retrySeconds;
        private readonly double _reconcileSeconds;

        public RetryHandler(HttpMessageHandler inner, double timeoutSeconds, double retrySeconds, double reconcileSeconds)
            : base(inner)
        {
            _timeoutSeconds = timeoutSeconds;
            _retrySeconds = retrySeconds;
            _reconcileSeconds = Math.Max(reconcileSeconds, retrySeconds);
        }

        protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellation)
        {
            if (request.Content != null) await request.Content.LoadIntoBufferAsync().ConfigureAwait(false);
            var takesKey = request.Method == HttpMethod.Post || request.RequestUri.AbsolutePath.EndsWith("/lock");
            if (takesKey && !request.Headers.Contains(KeyHeader)) request.Headers.Add(KeyHeader, Guid.NewGuid().ToString());
            var elapsed = Stopwatch.StartNew();
            var isUnknown = false;
            for (var attempts = 0; ; attempts++)
            {
                TillbridgeException error;
                try
                {
                    return await Attempt(request, cancellation).ConfigureAwait(false);
                }
                catch (TillbridgeException failure)
                {
                    error = failure;
                }
                var isGatewayError = error.Code == "unexpected_response" && error.Status >= 502 && error.Status <= 504;
                var needsReconciling = isGatewayError || Reconcile.Contains(error.Code);
                if (!needsReconciling && !Retry.Contains(error.Code))
                    throw isUnknown && LeavesOutcomeOpen(request, error) ? OutcomeUnknown(error) : error;
                isUnknown = isUnknown || (needsReconciling && request.Method != HttpMethod.Get);
                var delay = NextJitter() * Math.Min(MaxDelaySeconds, BaseDelaySeconds * Math.Pow(2, attempts));
                delay = Math.Max(delay, error.RetryAfter ?? 0);
                var limit = isUnknown ? _reconcileSeconds : _retrySeconds;
                if (elapsed.Elapsed.TotalSeconds + delay > limit) throw isUnknown ? OutcomeUnknown(error) : error;
                await Task.Delay(TimeSpan.FromSeconds(delay), cancellation).ConfigureAwait(false);
            }
        }

        /// <summary>Sends the request once. Throws <see cref="TillbridgeException" /> if it fails.</summary>
        private async Task<HttpResponseMessage> Attempt(HttpRequestMessage request, CancellationToken cancellation)
        {
            var key = request.Headers.Contains(KeyHeader) ? request.Headers.GetValues(KeyHeader).First() : null;
            using (var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellation))
            {
                timeout.CancelAfter(TimeSpan.FromSeconds(_timeoutSeconds));
                try
                {
                    var response = await base.SendAsync(request, timeout.Token).ConfigureAwait(false);
                    // The timeout covers the body too.
                    await response.Content.LoadIntoBufferAsync().ConfigureAwait(false);
                    if ((int)response.StatusCode < 400) return response;
                    using (response) throw await ReadError(response, key).ConfigureAwait(false);
                }
                catch (Exception failure) when (IsConnectionFailure(failure) && !cancellation.IsCancellationRequested)
                {
                    var code = IsCertificateFailure(failure) ? "certificate_rejected" : "no_response";
                    throw new TillbridgeException(code, idempotencyKey: key, inner: failure);
                }
            }
        }

        private static bool IsConnectionFailure(Exception failure) =>
            failure is HttpRequestException || failure is IOException || failure is WebException
            || failure is OperationCanceledException;

        private static bool IsCertificateFailure(Exception failure) =>
            failure != null
            && (failure is AuthenticationException
                || (failure as WebException)?.Status == WebExceptionStatus.TrustFailure
                || IsCertificateFailure(failure.InnerException));

        private static async Task<TillbridgeException> ReadError(HttpResponseMessage response, string key)
        {
            var problem = ParseProblem(await response.Content.ReadAsStringAsync().ConfigureAwait(false));
            return new TillbridgeException(
                problem == null ? "unexpected_response" : (string)problem["code"],
                (int)response.StatusCode,
                problem,
                response.Headers.RetryAfter?.Delta?.TotalSeconds,
                key);
        }

        private static JObject ParseProblem(string body)
        {
            try
            {
                var problem = JToken.Parse(body) as JObject;
                return problem?["code"]?.Type == JTokenType.String ? problem : null;
            }
            catch (JsonException)
            {
                return null;
            }
        }

        private static TillbridgeException OutcomeUnknown(TillbridgeException cause) =>
            new TillbridgeException(
                "outcome_unknown", retryAfter: cause.RetryAfter, idempotencyKey: cause.IdempotencyKey, inner: cause);

        /// <summary>Returns true if an error says nothing about the outcome of an earlier attempt.</summary>
        private static bool LeavesOutcomeOpen(HttpRequestMessage request, TillbridgeException error)
        {
            // The earlier attempt may have changed or deleted the record.
            if (error.Status == 412 || (request.Method == HttpMethod.Delete && error.Status == 404)) return true;
            return error.Status >= 500 || error.Status == 401 || error.Status == 429 || BeforeTheWrite.Contains(error.Code);
        }

        private static double NextJitter()
        {
            lock (Jitter) return 0.5 + Jitter.NextDouble() / 2;
        }
    }
}

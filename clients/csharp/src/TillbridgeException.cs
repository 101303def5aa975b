using System;
using System.Collections.Generic;
using Newtonsoft.Json.Linq;

namespace Tillbridge
{
    /// <summary>The error of a failed call. <c>Code</c> is stable: branch on it.</summary>
    public sealed class TillbridgeException : Exception
    {
        private static readonly Dictionary<string, string> Messages = new Dictionary<string, string>
        {
            ["no_response"] = "No response from the service.",
            ["certificate_rejected"] = "The service's certificate is not trusted. Pass a handler that trusts its authority.",
            ["unexpected_response"] = "The response is not from the service. Check the URL.",
            ["outcome_unknown"] = "The outcome is unknown. Retry with the same idempotency key.",
        };

        public TillbridgeException(
            string code,
            int? status = null,
            JObject problem = null,
            double? retryAfter = null,
            string idempotencyKey = null,
            Exception inner = null)
            : base($"{Describe(code, problem)} ({code})", inner)
        {
            Code = code;
            Status = status;
            Problem = problem ?? new JObject();
            RetryAfter = retryAfter;
            IdempotencyKey = idempotencyKey;
        }

        /// <summary>A code of the API's catalogue, or <c>no_response</c>, <c>certificate_rejected</c> or <c>unexpected_response</c>.</summary>
        public string Code { get; }

        /// <summary>The HTTP status, or null if no response arrived.</summary>
        public int? Status { get; }

        /// <summary>The complete error body (RFC 9457).</summary>
        public JObject Problem { get; }

        /// <summary>Every validation error of the request, each with <c>pointer</c> and <c>detail</c>.</summary>
        public JArray Errors => (JArray)Problem["errors"] ?? new JArray();

        /// <summary>The request ID, for support.</summary>
        public string RequestId => (string)Problem["requestId"];

        /// <summary>Seconds to wait before a retry, or null.</summary>
        public double? RetryAfter { get; }

        /// <summary>The idempotency key of the write, or null.</summary>
        public string IdempotencyKey { get; }

        private static string Describe(string code, JObject problem) =>
            (string)problem?["detail"]
            ?? (string)problem?["title"]
            ?? (Messages.TryGetValue(code, out var message) ? message : "The call failed.");
    }
}

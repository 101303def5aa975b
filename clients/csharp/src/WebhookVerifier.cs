using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using Newtonsoft.Json.Linq;

namespace Tillbridge
{
    /// <summary>A delivery that isn't from the service, or is too old.</summary>
    public sealed class WebhookException : Exception
    {
        public WebhookException(string message) : base(message) { }
    }

    /// <summary>Verification of webhook deliveries (Standard Webhooks 1.0.0).</summary>
    public static class WebhookVerifier
    {
        /// <summary>The largest difference between a delivery's timestamp and our clock.</summary>
        private const int ToleranceSeconds = 300;

        private const string SecretPrefix = "whsec_";

        /// <summary>Verifies the signature and the age of a delivery. Returns its body.</summary>
        /// <param name="body">The raw body, before any parsing.</param>
        /// <param name="headers">The headers. Upper and lower case don't matter.</param>
        /// <param name="secrets"><c>whsec_…</c>. During a rotation, the old one and the new one.</param>
        public static JObject Verify(string body, IEnumerable<KeyValuePair<string, string>> headers, params string[] secrets)
        {
            var values = headers.ToDictionary(header => header.Key, header => header.Value, StringComparer.OrdinalIgnoreCase);
            var (id, timestamp) = (Read(values, "webhook-id"), Read(values, "webhook-timestamp"));
            var signatures = Read(values, "webhook-signature").Split(' ');
            var now = DateTimeOffset.UtcNow.ToUnixTimeSeconds();
            var isNumber = long.TryParse(timestamp, NumberStyles.None, CultureInfo.InvariantCulture, out var seconds);
            if (!isNumber || Math.Abs(now - seconds) > ToleranceSeconds)
                throw new WebhookException($"The timestamp must be within {ToleranceSeconds} seconds of this clock.");
            var signed = Encoding.UTF8.GetBytes($"{id}.{timestamp}.{body}");
            foreach (var secret in secrets)
                using (var hmac = new HMACSHA256(Decode(secret)))
                {
                    var expected = Encoding.UTF8.GetBytes("v1," + Convert.ToBase64String(hmac.ComputeHash(signed)));
                    if (signatures.Any(signature => AreEqual(expected, Encoding.UTF8.GetBytes(signature))))
                        return JObject.Parse(body);
                }
            throw new WebhookException("No signature matches a secret.");
        }

        private static string Read(Dictionary<string, string> headers, string name) =>
            headers.TryGetValue(name, out var value) && value != ""
                ? value
                : throw new WebhookException($"The header {name} is missing.");

        private static byte[] Decode(string secret)
        {
            try
            {
                var key = Convert.FromBase64String(secret.StartsWith(SecretPrefix) ? secret.Substring(SecretPrefix.Length) : secret);
                if (key.Length > 0) return key;
            }
            catch (FormatException)
            {
            }
            throw new WebhookException("A secret must be `whsec_` followed by base64.");
        }

        /// <summary>Compares without stopping at the first difference, so that the time reveals nothing.</summary>
        private static bool AreEqual(byte[] expected, byte[] actual)
        {
            var difference = expected.Length ^ actual.Length;
            for (var i = 0; i < expected.Length && i < actual.Length; i++) difference |= expected[i] ^ actual[i];
            return difference == 0;
        }
    }
}

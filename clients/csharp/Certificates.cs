using System;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Net.Security;

/// <summary>Trust in a certificate that the system's authorities did not issue, such as the one of a demo.</summary>
public static class Certificates
{
    /// <summary>Returns a handler that also accepts the certificates of a PEM file. Returns null if there is no file.</summary>
    public static HttpClientHandler Accept(string file)
    {
        if (string.IsNullOrEmpty(file)) return null;
        var accepted = File.ReadAllText(file)
            .Split(new[] { "-----BEGIN CERTIFICATE-----" }, StringSplitOptions.None)
            .Skip(1)
            .Select(part => Convert.FromBase64String(part.Split('-')[0]))
            .ToList();
        return new HttpClientHandler
        {
            ServerCertificateCustomValidationCallback = (request, certificate, chain, errors) =>
                errors == SslPolicyErrors.None || accepted.Any(bytes => bytes.SequenceEqual(certificate.RawData)),
        };
    }
}

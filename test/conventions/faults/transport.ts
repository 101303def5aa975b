import type { Section } from './fault.ts'

export const transport: Section = {
  title: 'Transport and HTTP',
  cases: [
    [
      150,
      'Plain HTTP is sent to the TLS port',
      ['api/requests/raw-requests.test.ts', 'plain HTTP on the TLS port is closed without a response'],
    ],
    [
      151,
      'A proxy reports that the request used plain HTTP',
      ['api/requests/raw-requests.test.ts', 'the forwarded scheme counts only from a trusted proxy'],
    ],
    [
      152,
      'An untrusted client sends forwarding headers',
      ['api/requests/raw-requests.test.ts', 'the forwarded scheme counts only from a trusted proxy'],
    ],
    [
      153,
      'A client uses old protocols, weak suites, compression, renegotiation or odd server names',
      ['api/requests/handshakes.test.ts', 'SSL 3, TLS 1.0 and TLS 1.1 are rejected'],
      ['api/requests/handshakes.test.ts', 'weak cipher suites are rejected and strong ones accepted'],
      ['api/requests/handshakes.test.ts', 'TLS compression is never used'],
      ['api/requests/handshakes.test.ts', 'a TLS renegotiation is rejected without disturbing other clients'],
      ['api/requests/handshakes.test.ts', 'the server presents its certificate for any server name'],
      ['api/requests/raw-requests.test.ts', 'only TLS 1.2 and 1.3 are accepted'],
    ],
    [
      154,
      'A certificate has expired, is unreadable or is replaced',
      ['runtime/tls.test.ts', 'an unusable pair is rejected in a line that names it'],
      ['runtime/tls.test.ts', 'a running server loads a new pair unless it is invalid'],
      ['runtime/start-tls.test.ts', 'doctor reports an expiring certificate and a mismatched key'],
      ['runtime/start-tls.test.ts', 'a certificate with ten days left is reported at the start'],
    ],
    [
      155,
      'TLS handshakes are never finished',
      ['api/requests/handshakes.test.ts', 'an unfinished handshake with HTTP2=… is closed within 30 s'],
      ['faults/scenarios.test.ts', 'clients that stall are disconnected and do not disturb others'],
    ],
    [
      156,
      'Headers arrive slowly',
      ['api/requests/slow-clients.test.ts', 'a client with slow headers and HTTP2=… is disconnected within 20 s'],
      ['faults/scenarios.test.ts', 'clients that stall are disconnected and do not disturb others'],
    ],
    [
      157,
      'A body arrives slowly',
      ['api/requests/slow-clients.test.ts', 'a slow body is aborted within 35 s and creates nothing'],
      ['faults/scenarios.test.ts', 'clients that stall are disconnected and do not disturb others'],
    ],
    [
      158,
      'Clients do not read their responses',
      ['faults/scenarios.test.ts', 'clients that stall are disconnected and do not disturb others'],
      ['api/changes/stream.test.ts', 'a client that does not read is disconnected and buffered within bounds'],
    ],
    [
      159,
      'Bytes of a request are ambiguous',
      ['api/requests/raw-requests.test.ts', 'ambiguous bytes are rejected and the connection is closed'],
      ['api/requests/garbage-bytes.test.ts', 'requests before garbage bytes are all answered in order'],
    ],
    [
      160,
      'Requests are pipelined',
      ['api/requests/raw-requests.test.ts', '50 pipelined requests are answered in order'],
    ],
    [
      161,
      'A request has 20 KB of headers or 2,100 headers',
      ['api/requests/methods.test.ts', 'a request can have at most 100 headers of 16 KiB'],
    ],
    [
      162,
      'URLs have 20 KB, broken encodings, NUL or dots',
      ['api/requests/urls.test.ts', 'a URL over 8 KiB is too long, whatever else is wrong'],
      ['api/requests/requests.test.ts', 'a malformed path is rejected and an unknown one is not found'],
      ['api/requests/requests.test.ts', 'dots in a path cannot bypass routing'],
      ['api/requests/requests.test.ts', 'control characters are rejected in parameters and identifiers'],
    ],
    [
      163,
      'A path does not support the method',
      ['api/requests/methods.test.ts', 'a known path rejects other methods with `Allow`, for any body'],
    ],
    [
      164,
      'A browser sends a CORS preflight request',
      ['api/requests/methods.test.ts', 'a known path rejects other methods with `Allow`, for any body'],
    ],
    [
      165,
      'A path has a trailing slash, a double slash or capitals',
      ['api/requests/urls.test.ts', 'a trailing slash in a path changes no response'],
      ['api/requests/methods.test.ts', 'an unknown path is 404 for any method and body'],
    ],
    [
      166,
      'A body is not declared as JSON, or the client does not accept JSON',
      ['api/requests/bodies.test.ts', 'a body must be plain JSON'],
      ['api/requests/methods.test.ts', 'a client that does not accept JSON gets 406'],
    ],
    [
      167,
      'A compressed body expands enormously',
      ['api/requests/bodies.test.ts', 'a compressed body is rejected without decompression'],
    ],
    [
      168,
      'An expectation is unknown',
      ['api/requests/raw-requests.test.ts', 'an unknown expectation is rejected and 100-continue is supported'],
    ],
    [
      169,
      'A client floods the server over HTTP/2',
      ['api/requests/http2.test.ts', 'a connection can have 100 concurrent requests, and more are rejected'],
      ['api/requests/http2-floods.test.ts', 'a flooding connection is closed while other clients are served'],
    ],
    [
      170,
      'A client requests an upgrade to another protocol',
      ['api/requests/raw-requests.test.ts', 'an upgrade is ignored and no tunnel is opened'],
    ],
  ],
}

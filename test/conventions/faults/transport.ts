import type { Section } from './fault.ts'

export const transport: Section = {
  title: 'Transport and HTTP',
  cases: [
    [
      150,
      'Plain HTTP on the port for TLS',
      ['api/requests/wire.test.ts', 'plain HTTP on the TLS port is closed without a byte'],
    ],
    [
      151,
      'A proxy says that the request came over plain HTTP',
      ['api/requests/wire.test.ts', 'what a trusted proxy says of the scheme counts, what anyone else says does not'],
    ],
    [
      152,
      'Forwarding headers of somebody who is not trusted',
      ['api/requests/wire.test.ts', 'what a trusted proxy says of the scheme counts, what anyone else says does not'],
    ],
    [
      153,
      'Old protocols, weak suites, compression, renegotiation, odd names of the server',
      ['api/requests/handshakes.test.ts', 'SSL 3, TLS 1.0 and TLS 1.1 are refused'],
      ['api/requests/handshakes.test.ts', 'of suites those that are weak are refused, and a good one is taken'],
      ['api/requests/handshakes.test.ts', 'nothing is compressed'],
      [
        'api/requests/handshakes.test.ts',
        'who wants to negotiate anew in a connection is refused, and the others are served',
      ],
      [
        'api/requests/handshakes.test.ts',
        'whatever name a client calls the server by, the certificate is the one that there is',
      ],
      ['api/requests/wire.test.ts', 'TLS before 1.2 is refused, 1.2 and 1.3 are spoken'],
    ],
    [
      154,
      'A certificate that has expired, cannot be read, is replaced',
      ['runtime/tls.test.ts', 'a configured pair that cannot be used is refused in one line that names the file'],
      [
        'runtime/tls.test.ts',
        'a running server takes over a new pair, and keeps the old one as long as the new one is bad',
      ],
      [
        'runtime/start-tls.test.ts',
        'doctor tells of a certificate that ends within a month, and of a key that does not fit',
      ],
      [
        'runtime/start-tls.test.ts',
        'a certificate with ten days left is told of at the start, and in the metrics; one with a year in the metrics alone',
      ],
    ],
    [
      155,
      'Handshakes that are not finished',
      [
        'api/requests/handshakes.test.ts',
        'with HTTP2=…, a handshake that is not finished is let go within 30 s, and the others are served',
      ],
      ['faults/scenarios.test.ts', 'clients that stall are disconnected and do not disturb others'],
    ],
    [
      156,
      'Headers that come slowly',
      [
        'api/requests/slow-clients.test.ts',
        'with HTTP2=…, who sends headers slowly is let go within 20 s, and the others are served',
      ],
      ['faults/scenarios.test.ts', 'clients that stall are disconnected and do not disturb others'],
    ],
    [
      157,
      'A body that comes slowly',
      ['api/requests/slow-clients.test.ts', 'a body that comes too slowly is let go within 35 s, and has made nothing'],
      ['faults/scenarios.test.ts', 'clients that stall are disconnected and do not disturb others'],
    ],
    [
      158,
      'Clients that do not read what they are sent',
      ['faults/scenarios.test.ts', 'clients that stall are disconnected and do not disturb others'],
      [
        'api/changes/stream.test.ts',
        'a client that leaves unread what it is sent is dropped, and what waits for it is bounded',
      ],
    ],
    [
      159,
      'Bytes that may be read in two ways',
      ['api/requests/wire.test.ts', 'bytes that may be read in two ways are refused, and the connection closed'],
      ['api/requests/broken.test.ts', 'requests that are followed by garbage are all answered, in their order'],
    ],
    [
      160,
      'Requests that are sent without waiting for answers',
      ['api/requests/wire.test.ts', '50 requests sent at once are answered in their order'],
    ],
    [
      161,
      'Headers of 20 KB, and 2,100 of them',
      ['api/requests/methods.test.ts', 'there are at most 100 headers, of 16 KiB'],
    ],
    [
      162,
      'URLs of 20 KB, with broken encodings, NUL, dots',
      [
        'api/requests/urls.test.ts',
        'a URL beyond 8 KiB is too long, wherever it is long, and whatever else is wrong with it',
      ],
      [
        'api/requests/requests.test.ts',
        'a path that is not well-formed is refused, one that leads nowhere is not found',
      ],
      ['api/requests/requests.test.ts', 'dots in a path are no way around'],
      ['api/requests/requests.test.ts', 'control characters are in no parameter and in no identifier'],
    ],
    [
      163,
      'A method that a path does not have',
      ['api/requests/methods.test.ts', 'a known path answers other methods with those it has, whatever the body'],
    ],
    [
      164,
      'A browser asks whether another origin may',
      ['api/requests/methods.test.ts', 'a known path answers other methods with those it has, whatever the body'],
    ],
    [
      165,
      'A slash at the end, two slashes, capitals in a path',
      ['api/requests/urls.test.ts', 'a slash at the end of a path is no other path, whatever is asked there'],
      ['api/requests/methods.test.ts', 'an unknown path is not found, whatever the method and the body'],
    ],
    [
      166,
      'A body that is no JSON by its type; a caller who takes none',
      ['api/requests/bodies.test.ts', 'only plain JSON is taken, whatever the body'],
      ['api/requests/methods.test.ts', 'who takes no JSON is told so'],
    ],
    [
      167,
      'A body that explodes when it is unpacked',
      ['api/requests/bodies.test.ts', 'a compressed body is refused, and not unpacked'],
    ],
    [
      168,
      'An expectation that nobody knows',
      ['api/requests/wire.test.ts', 'an expectation that is not known is refused, 100-continue is met'],
    ],
    [
      169,
      'Floods over HTTP/2',
      ['api/requests/http2.test.ts', 'a connection has 100 requests at a time, and those beyond are refused'],
      ['api/requests/http2-floods.test.ts', 'the connection of a flood is ended, and who asks meanwhile is answered'],
    ],
    [
      170,
      'An upgrade to another protocol',
      ['api/requests/wire.test.ts', 'an upgrade to another protocol is ignored, a tunnel is not opened'],
    ],
  ],
}

import type { Section } from './fault.ts'

export const keys: Section = {
  title: 'Idempotency keys, kills and unknown outcomes',
  cases: [
    [
      1,
      'A write is repeated with its key after the response',
      ['api/requests/idempotency.test.ts', 'a replay contains everything of the first response'],
      ['api/vouchers/issue.test.ts', 'a repeat with its key returns the same voucher and PIN'],
      ['api/vouchers/email.test.ts', 'a voucher repeated with its Idempotency-Key has one email'],
    ],
    [
      2,
      'Fifty requests with one key arrive concurrently',
      ['api/requests/concurrency.test.ts', '50 concurrent requests with one key have one effect and one response'],
      ['api/requests/idempotency-over-time.test.ts', '50 concurrent requests with one key execute one write'],
    ],
    [
      3,
      'A key is reused for another body',
      ['api/requests/idempotency.test.ts', 'a key used for a different request is rejected without effect'],
    ],
    [
      4,
      'A repeat has its JSON in another order and spacing',
      ['api/requests/idempotency.test.ts', 'equal JSON in any order and spacing is the same request'],
    ],
    [
      5,
      'A key is used in another operation and by another service',
      ['api/requests/idempotency.test.ts', 'the same key in another operation is another write'],
      ['api/requests/idempotency.test.ts', 'the same key in another service is another write'],
    ],
    [
      6,
      'The process is killed before the back office call',
      ['apparel21/writes/crashes.test.ts', 'a … killed at … exists once everywhere after its repeat'],
      ['runtime/crashes.test.ts', 'a process killed at … leaves one effect after the repeat'],
    ],
    [
      7,
      'The process is killed after the back office call and before its own write',
      ['apparel21/writes/crashes.test.ts', 'a … killed at … exists once everywhere after its repeat'],
      ['apparel21/writes/crashes.test.ts', 'a voucher for … killed at … exists once after its repeat'],
    ],
    [
      8,
      'The process is killed right after the commit',
      ['runtime/crashes.test.ts', 'a process killed at … leaves one effect after the repeat'],
    ],
    [
      9,
      'The connection is cut in the middle of a response',
      ['api/requests/cut-responses.test.ts', 'a write whose response is cut is executed once and replayed completely'],
      ['client/faults.test.ts', 'an order whose response is lost twice is placed once'],
    ],
    [
      10,
      'The client closes its socket after sending',
      [
        'api/requests/idempotency-over-time.test.ts',
        'a disconnected client gets the response by repeating the request',
      ],
    ],
    [
      11,
      'The back office responds after the deadline',
      ['apparel21/writes/customers.test.ts', 'a silent back office is an unknown outcome at the deadline'],
      ['apparel21/writes/reconcile.test.ts', 'an order with a lost response is stored automatically with audit entry'],
    ],
    [
      12,
      'The response to a commit is lost',
      ['api/requests/lost-commit.test.ts', 'a … with a lost commit response is written and answered once'],
      ['api/requests/lost-commit.test.ts', 'a … without a key is written once with unknown outcome'],
      ['apparel21/writes/lost-commit.test.ts', 'an order with a lost commit response of … is placed once'],
    ],
    [
      13,
      'A process dies while its key is in progress',
      ['apparel21/writes/reconcile.test.ts', 'a repeat takes over a finished attempt and leaves the job nothing'],
      ['apparel21/writes/crashes.test.ts', 'a … killed at … exists once everywhere after its repeat'],
    ],
    [
      14,
      'A key is empty, too long, not ASCII, quoted or contains a line break',
      ['api/requests/idempotency.test.ts', 'a key must have 1 to 255 printable ASCII characters'],
      ['api/requests/idempotency.test.ts', 'a quoted key equals the bare key'],
    ],
    [
      15,
      'Writes arrive without a key, even if the service requires one',
      ['api/requests/idempotency.test.ts', 'each request without a key is a separate write'],
      ['api/requests/idempotency.test.ts', 'a service can require a key for every supported write'],
      ['api/vouchers/issue.test.ts', 'a request without a key issues another voucher, except for repeated orders'],
    ],
    [
      16,
      'A key is reused after 24 hours',
      ['api/requests/idempotency-over-time.test.ts', 'a key expires after 24 hours and its response is deleted'],
      ['apparel21/vouchers/sales.test.ts', 'a key reused after a day sells another voucher'],
    ],
    [
      17,
      'A hundred clients retry during an outage of the back office and kills',
      ['runtime/chaos.test.ts', 'kills with a slow Apparel21 leave no open or diverging write'],
      ['client/faults.test.ts', 'a call survives a restart of the server'],
      ['apparel21/client/failures.test.ts', 'at most a tenth of the calls during an outage are retries'],
    ],
    [
      18,
      'A rejected body is corrected and sent with the same key',
      ['api/requests/idempotency.test.ts', 'a rejected request leaves its key unused'],
    ],
  ],
}

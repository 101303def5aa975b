import type { Section } from './fault.ts'

export const privacy: Section = {
  title: 'Logs, secrets, privacy',
  cases: [
    [
      199,
      'Line breaks, control sequences, a megabyte in what is logged',
      [
        'telemetry/log-lines.test.ts',
        'whatever a request brings, its line is one record, without a control character, and short',
      ],
    ],
    [
      200,
      'Canaries through everything, looked for in logs, figures, tables',
      ['api/access/canary.test.ts', 'secrets appear only in the responses they belong to, never in logs'],
      [
        'api/webhooks/canary.test.ts',
        'no PIN, password or secret, and nothing that a record says, is in a delivery, an attempt, an alert, an e-mail about one or a log',
      ],
      [
        'import/vouchers.test.ts',
        'no PIN is anywhere: not in the rejected file, not in what is said, logged or stored',
      ],
    ],
    [
      201,
      'Apparel21 wants the PIN in its URL',
      [
        'apparel21/vouchers/opening.test.ts',
        'neither PIN nor the back office’s validation is in a log, an answer or a column',
      ],
    ],
    [
      202,
      'Every error, and all that it tells',
      ['api/requests/requests.test.ts', "an error response never repeats the request's values"],
      ['runtime/outages.test.ts', 'an unexpected fault tells the request id alone'],
      ['api/openapi/openapi.test.ts', 'an error example has its own status and matches the real response'],
    ],
    [
      203,
      'A dump of the database is stolen',
      ['api/access/account-passwords.test.ts', 'passwords and API keys never appear in logs, audit entries or tables'],
      ['api/vouchers/issue.test.ts', 'a PIN is never stored in plain text'],
      ['api/access/dump.test.ts', 'a dump of all tables contains no secret in any encoding'],
    ],
    [204, 'The headers of every answer', ['api/requests/answers.test.ts', 'every response has the standard headers']],
    [
      205,
      'Paths and names at random, as labels of figures',
      [
        'telemetry/metrics.test.ts',
        'requests are counted over all processes, by the route and never by what a caller makes up',
      ],
    ],
    [
      206,
      'A customer is exported and erased',
      ['api/customers/export.test.ts', 'a personal data export contains everything about one person only'],
      ['api/customers/erasure.test.ts', 'erasure leaves no personal text in any table, log or email'],
    ],
    [
      207,
      'Stored answers grow older than they may',
      ['api/requests/idempotency-over-time.test.ts', 'a key expires after 24 hours and its response is deleted'],
      ['apparel21/writes/settling.test.ts', 'what was asked for is kept encrypted, and no longer than it is open'],
    ],
    [208, 'A trace that is broken, or huge', ['api/requests/answers.test.ts', 'a malformed trace header is ignored']],
    [
      209,
      'A request id of 10 KB, or with a line break',
      ['api/requests/answers.test.ts', 'an invalid request ID is replaced with a new one'],
    ],
  ],
}

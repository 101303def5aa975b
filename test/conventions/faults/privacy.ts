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
      [
        'api/access/canary.test.ts',
        'a PIN, a validation, a password and what they came with are in no log line, and in no answer but the ones they belong to',
      ],
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
      ['api/requests/requests.test.ts', 'what was sent is not repeated in the answer'],
      ['runtime/outages.test.ts', 'an unexpected fault tells the request id alone'],
      [
        'api/openapi/openapi.test.ts',
        'an error stands with its own status, and its example is what the service would say',
      ],
    ],
    [
      203,
      'A dump of the database is stolen',
      [
        'api/access/account-passwords.test.ts',
        'passwords and API keys are in no log line, in no line of the audit and nowhere in the database',
      ],
      ['api/vouchers/issue.test.ts', 'a PIN stands nowhere in the database in the clear'],
      ['api/access/dump.test.ts', 'who steals all tables finds no secret in them, in no encoding'],
    ],
    [
      204,
      'The headers of every answer',
      ['api/requests/answers.test.ts', 'every answer carries the standing headers, whatever it is'],
    ],
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
      [
        'api/customers/export.test.ts',
        'an export has everything that is kept of a person, and nothing of anybody else',
      ],
      [
        'api/customers/erasure.test.ts',
        'of a customer who is erased no text is left, in no table, log or mail; what they bought keeps its sums',
      ],
    ],
    [
      207,
      'Stored answers grow older than they may',
      [
        'api/requests/idempotency-over-time.test.ts',
        'after 24 hours a key is free again, and what it answered is deleted',
      ],
      ['apparel21/writes/settling.test.ts', 'what was asked for is kept encrypted, and no longer than it is open'],
    ],
    [
      208,
      'A trace that is broken, or huge',
      ['api/requests/answers.test.ts', 'a trace that is not well-formed is ignored'],
    ],
    [
      209,
      'A request id of 10 KB, or with a line break',
      ['api/requests/answers.test.ts', 'any other request id is replaced by a new one'],
    ],
  ],
}

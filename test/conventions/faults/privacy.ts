import type { Section } from './fault.ts'

export const privacy: Section = {
  title: 'Logs, secrets and privacy',
  cases: [
    [
      199,
      'Logged values contain line breaks, control sequences or a megabyte',
      ['telemetry/log-lines.test.ts', 'a log line is one short record without control characters'],
    ],
    [
      200,
      'Planted secrets pass through every operation, and logs, metrics and tables are searched',
      ['api/access/canary.test.ts', 'secrets appear only in the responses they belong to, never in logs'],
      [
        'api/webhooks/canary.test.ts',
        'secrets and record contents never appear in deliveries, attempts, alerts or logs',
      ],
      ['import/vouchers.test.ts', 'PINs never appear in rejected files, output, logs or tables'],
    ],
    [
      201,
      'Apparel21 requires the PIN in its URL',
      ['apparel21/vouchers/opening.test.ts', 'secrets of a voucher never appear in logs, responses or tables'],
    ],
    [
      202,
      'Every error is checked for its content',
      ['api/requests/requests.test.ts', "an error response never repeats the request's values"],
      ['runtime/outages.test.ts', 'an unexpected error returns only the request ID'],
      ['api/openapi/openapi.test.ts', 'an error example has its own status and matches the real response'],
    ],
    [
      203,
      'A database dump is stolen',
      ['api/access/account-passwords.test.ts', 'passwords and API keys never appear in logs, audit entries or tables'],
      ['api/vouchers/issue.test.ts', 'a PIN is never stored in plain text'],
      ['api/access/dump.test.ts', 'a dump of all tables contains no secret in any encoding'],
    ],
    [
      204,
      'The headers of every response are checked',
      ['api/requests/responses.test.ts', 'every response has the standard headers'],
    ],
    [
      205,
      'Random paths and names could become metric labels',
      ['telemetry/metrics.test.ts', 'requests are counted across processes by route'],
    ],
    [
      206,
      "A customer's data is exported and erased",
      ['api/customers/export.test.ts', 'a personal data export contains everything about one person only'],
      ['api/customers/erasure.test.ts', 'erasure leaves no personal text in any table, log or email'],
    ],
    [
      207,
      'Stored responses exceed their retention',
      ['api/requests/idempotency-over-time.test.ts', 'a key expires after 24 hours and its response is deleted'],
      ['apparel21/writes/reconcile.test.ts', 'a write intent is stored encrypted and only while open'],
    ],
    [
      208,
      'A trace header is malformed or huge',
      ['api/requests/responses.test.ts', 'a malformed trace header is ignored'],
    ],
    [
      209,
      'A request ID has 10 KB or a line break',
      ['api/requests/responses.test.ts', 'an invalid request ID is replaced with a new one'],
    ],
  ],
}

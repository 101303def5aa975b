import type { Section } from './fault.ts'

export const deliveries: Section = {
  title: 'Email, jobs and webhooks',
  cases: [
    [
      92,
      'The mail server is down when a voucher is issued',
      ['api/vouchers/email.test.ts', 'a voucher email waits during a mail server outage and then arrives'],
    ],
    [
      93,
      'The connection is cut before the mail server accepts a message',
      ['runtime/jobs/mail-attempts.test.ts', 'an unconfirmed message is repeated with the same Message-ID'],
    ],
    [
      94,
      'The mail server rejects a message temporarily or permanently',
      ['runtime/jobs/mail-attempts.test.ts', 'a temporarily rejected message is retried, then fails with an alert'],
      ['runtime/jobs/mail-attempts.test.ts', 'a permanently rejected message fails until it is resent manually'],
    ],
    [
      95,
      'The mail server responds slowly or never',
      ['api/vouchers/email.test.ts', 'a mail server that blocks every worker slot does not delay requests'],
      ['runtime/jobs/mail-attempts.test.ts', 'an unresponsive mail server holds no database connection and times out'],
      ['runtime/jobs/mail-attempts.test.ts', 'a mail server with a slow greeting times out'],
    ],
    [
      96,
      'A worker is killed after the mail server accepts a message and before it is recorded',
      ['runtime/jobs/worker.test.ts', 'a worker killed while sending causes at most one duplicate email'],
      ['runtime/jobs/worker.test.ts', 'a server killed before recording a delivery sends it again'],
    ],
    [
      97,
      'STARTTLS is stripped by an attacker',
      ['runtime/jobs/mail-attempts.test.ts', 'nothing is sent and an alert is raised if the server …'],
    ],
    [
      98,
      'An endpoint fails repeatedly',
      ['api/webhooks/deliveries.test.ts', 'a failed delivery is repeated unchanged except for time and signature'],
      ['api/webhooks/status.test.ts', 'an endpoint failing for a week is reported, then catches up gently'],
    ],
    [
      99,
      'An endpoint times out',
      ['api/webhooks/many.test.ts', 'half of 200 endpoints hang or fail without delaying the others'],
    ],
    [
      100,
      'An endpoint redirects to an internal address',
      ['api/webhooks/guard.test.ts', 'a redirect (…) to an internal address is not followed'],
      ['api/webhooks/deliveries.test.ts', 'a redirect counts as a failure and is not followed'],
    ],
    [
      101,
      'A hundred URLs lead to internal addresses in every spelling',
      ['api/webhooks/guard.test.ts', 'a delivery is never sent to …'],
      ['api/webhooks/guard.test.ts', 'the guard is tested with a hundred hostile URLs'],
    ],
    [
      102,
      'A name resolves to another address after the check',
      ['api/webhooks/guard.test.ts', 'a name is resolved and checked again for each connection'],
    ],
    [
      103,
      'An endpoint returns 410, or 429 with Retry-After',
      ['api/webhooks/deliveries.test.ts', 'an endpoint that returns 410 is paused and continues when resumed'],
      ['api/webhooks/deliveries.test.ts', 'Retry-After is obeyed up to one day'],
    ],
    [
      104,
      "An endpoint's response is endless",
      ['api/webhooks/guard.test.ts', 'a delivery reads 64 KiB of a response and stores 1 KiB'],
    ],
    [
      105,
      'A webhook is sent to the API, which accepts none',
      ['api/access/matrix.test.ts', 'a webhook delivery sent to the API is unauthenticated and changes nothing'],
    ],
    [
      106,
      'A signature is almost right, or a secret is being rotated',
      ['client/webhooks.test.ts', 'a modified body, ID, time or signature fails verification'],
      ['api/webhooks/status.test.ts', 'both secrets sign for 24 hours after a rotation without lost deliveries'],
    ],
    [
      107,
      'A process crashes between the commit of a write and its jobs',
      ['runtime/jobs/mail.test.ts', "an email is queued in its voucher's transaction"],
      ['runtime/crashes.test.ts', 'a process killed at … leaves one effect after the repeat'],
    ],
  ],
}

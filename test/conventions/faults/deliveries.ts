import type { Section } from './fault.ts'

export const deliveries: Section = {
  title: 'E-mail, jobs, webhooks',
  cases: [
    [
      92,
      'The mail server is down when a voucher is made',
      ['api/vouchers/mail.test.ts', 'a voucher email waits during a mail server outage and then arrives'],
    ],
    [
      93,
      'The connection is cut before the mail server has said yes',
      [
        'runtime/jobs/mail-attempts.test.ts',
        'a connection that is cut before the server has said yes leads to a second delivery under the same Message-ID',
      ],
    ],
    [
      94,
      'The mail server refuses for now, and for good',
      [
        'runtime/jobs/mail-attempts.test.ts',
        'a message that is refused for now is tried again after growing waits, and fails after the last one with an alert',
      ],
      [
        'runtime/jobs/mail-attempts.test.ts',
        'a message that is refused for good has failed at once; tried again by hand it is sent, and the alert is settled',
      ],
    ],
    [
      95,
      'The mail server answers slowly, or not at all',
      ['api/vouchers/mail.test.ts', 'a mail server that blocks every worker slot does not delay requests'],
      ['runtime/jobs/mail-attempts.test.ts', 'a server that never answers holds no database connection, and is left'],
      ['runtime/jobs/mail-attempts.test.ts', 'a server that drips its greeting byte by byte is left too'],
    ],
    [
      96,
      "A worker is killed after the mail server's yes, before its own mark",
      [
        'runtime/jobs/worker.test.ts',
        'a worker that is killed around the sending of a mail is taken over: one more mail at most, the same Message-ID, within 60 s',
      ],
      [
        'runtime/jobs/worker.test.ts',
        'a service that is killed between the server’s yes and its own mark sends once more after a restart',
      ],
    ],
    [
      97,
      'STARTTLS is stripped on the way',
      ['runtime/jobs/mail-attempts.test.ts', 'nothing is sent, and an alert is raised, where the server …'],
    ],
    [
      98,
      'An endpoint fails, again and again',
      [
        'api/webhooks/deliveries.test.ts',
        'a delivery that was not taken is repeated, the same but for its time and signature; what changes meanwhile waits',
      ],
      [
        'api/webhooks/standing.test.ts',
        'an endpoint that fails for a week is told of, and then told each changed record once, in order, at a gentle pace',
      ],
    ],
    [
      99,
      'An endpoint takes too long',
      ['api/webhooks/many.test.ts', 'of 200 endpoints half are dead or hang, and the live ones are told all the same'],
    ],
    [
      100,
      'An endpoint redirects to the inside',
      ['api/webhooks/guard.test.ts', 'a redirect (…) to the inside is a failure, and is not followed'],
      ['api/webhooks/deliveries.test.ts', 'a redirect is a failure that is not followed'],
    ],
    [
      101,
      'A hundred URLs that lead to the inside, however they are written',
      ['api/webhooks/guard.test.ts', 'nothing is sent to …'],
      ['api/webhooks/guard.test.ts', 'there are a hundred hostile URLs'],
    ],
    [
      102,
      'A name leads elsewhere after it was judged',
      [
        'api/webhooks/guard.test.ts',
        'a name that leads elsewhere after it was judged is judged anew for each connection',
      ],
    ],
    [
      103,
      'An endpoint answers 410, or 429 with Retry-After',
      [
        'api/webhooks/deliveries.test.ts',
        'an endpoint that answers 410 is paused, and goes on where it stands once it is resumed',
      ],
      ['api/webhooks/deliveries.test.ts', 'Retry-After is waited for, up to a day'],
    ],
    [
      104,
      'An endpoint answers without an end',
      ['api/webhooks/guard.test.ts', 'of an answer 64 KiB are read and 1 KiB is kept'],
    ],
    [
      105,
      'A webhook comes in, of which this version takes none',
      ['api/access/matrix.test.ts', 'a webhook delivery sent to the API is unauthenticated and changes nothing'],
    ],
    [
      106,
      'A signature is nearly right; a secret is being rotated',
      [
        'client/webhooks.test.ts',
        'what was changed on the way is not believed: the body, the id, the time, the signature',
      ],
      [
        'api/webhooks/standing.test.ts',
        'after a rotation both secrets sign for 24 hours, then the new one alone; no delivery is lost',
      ],
    ],
    [
      107,
      'A crash between the commit of a write and its jobs',
      ['runtime/jobs/mail.test.ts', 'an e-mail is queued with the transaction that makes the voucher, or not at all'],
      [
        'runtime/crashes.test.ts',
        'a process that is killed at … leaves one effect behind, once the request is repeated',
      ],
    ],
  ],
}

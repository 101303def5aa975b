import type { Section } from './fault.ts'

export const backOffice: Section = {
  title: 'Faults of the back office',
  cases: [
    [
      73,
      'Connections are refused',
      [
        'apparel21/faults/installation.test.ts',
        'refused connections affect only live requests, and service recovers',
      ],
      ['apparel21/client/failures.test.ts', 'a refused connection is 503 with Retry-After'],
    ],
    [
      74,
      'It accepts and never answers',
      [
        'apparel21/faults/timing.test.ts',
        'calls end at the deadline and stop after five timeouts',
      ],
      [
        'apparel21/faults/installation.test.ts',
        'a back office that never responds affects only its own service',
      ],
    ],
    [
      75,
      'It answers byte by byte',
      [
        'apparel21/faults/timing.test.ts',
        'a response that drips byte by byte ends at the deadline',
      ],
    ],
    [
      76,
      'It answers with a page of its web server',
      [
        'apparel21/faults/answers.test.ts',
        'a web server page is 502 and is never passed on',
      ],
    ],
    [
      77,
      'Its XML is cut off or broken',
      [
        'apparel21/faults/answers.test.ts',
        'truncated or malformed XML is retried once, then 502, and never stored',
      ],
    ],
    [
      78,
      'Another root, another order, more elements, carriage returns, a byte order mark',
      [
        'apparel21/faults/answers.test.ts',
        'harmless format deviations are accepted; another root is 502',
      ],
    ],
    [
      79,
      'A document type, external entities, a milliard laughs',
      [
        'apparel21/faults/answers.test.ts',
        'a document type declaration is 502 without any expansion or fetch',
      ],
    ],
    [
      80,
      'A body of a gigabyte, or without an end',
      [
        'apparel21/faults/answers.test.ts',
        'a huge or endless body is cut off with bounded memory',
      ],
    ],
    [
      81,
      'Its own errors: 404 with 5008, refusals with a code',
      [
        'apparel21/faults/answers.test.ts',
        'missing data is 404; rejections are 4xx or 502 with our text',
      ],
    ],
    [
      82,
      'Its password was changed',
      [
        'apparel21/faults/installation.test.ts',
        'a rejected password is 503 with one alert until it is corrected',
      ],
    ],
    [
      83,
      'It redirects elsewhere',
      ['apparel21/faults/installation.test.ts', 'a redirect is not followed and receives no credentials'],
    ],
    [
      84,
      'Its certificate has expired, or is of another host',
      [
        'apparel21/faults/installation.test.ts',
        'an invalid certificate is rejected unless a CA file allows it',
      ],
    ],
    [
      85,
      'The second of two calls fails',
      [
        'apparel21/faults/answers.test.ts',
        'a reference value that cannot be fetched prevents response and storage',
      ],
    ],
    [
      86,
      'The stamp of a person is stale when it is written',
      ['apparel21/writes/customer-changes.test.ts', 'a change is abandoned after three concurrent back office changes'],
      [
        'apparel21/writes/customer-changes.test.ts',
        'a concurrent back office change between read and write is kept',
      ],
      [
        'apparel21/sync/overtaken.test.ts',
        'a sync page does not overwrite a newer write',
      ],
    ],
    [
      87,
      'A PUT clears what it lacks, while somebody edits there',
      ['apparel21/writes/customer-changes.test.ts', 'a change clears nothing that it omits'],
      [
        'apparel21/writes/customer-changes.test.ts',
        'a concurrent back office change between read and write is kept',
      ],
      [
        'apparel21/sync/overtaken.test.ts',
        'a sync page does not overwrite a newer write',
      ],
    ],
    [
      88,
      'It comes and goes',
      [
        'apparel21/faults/timing.test.ts',
        'an unstable back office is probed singly and never yields wrong data',
      ],
      ['apparel21/client/failures.test.ts', 'at most a tenth of the calls during an outage are retries'],
    ],
    [
      89,
      'The same page for ever, repeated or shuffled pages',
      [
        'apparel21/faults/answers.test.ts',
        'repeated or shuffled pages fail the sync and keep the list',
      ],
      ['apparel21/client/paging.test.ts', 'shuffled pages are detected'],
    ],
    [
      90,
      'Its clock is an hour off',
      [
        'apparel21/faults/timing.test.ts',
        'a back office clock an hour off loses no change',
      ],
    ],
    [
      91,
      '429 and 503 with Retry-After',
      [
        'apparel21/faults/timing.test.ts',
        'a short Retry-After is waited out; a long one stops calls',
      ],
    ],
  ],
}

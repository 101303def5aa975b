import type { Section } from './fault.ts'

export const backOffice: Section = {
  title: 'Faults of the back office',
  cases: [
    [
      73,
      'Connections are refused',
      [
        'apparel21/faults/installation.test.ts',
        'connections are refused: lists go on with their age, what is live is 503, nothing is written, and it all comes back',
      ],
      ['apparel21/client/failures.test.ts', 'a back office that refuses connections is 503 with Retry-After'],
    ],
    [
      74,
      'It accepts and never answers',
      [
        'apparel21/faults/timing.test.ts',
        'a back office that never answers is given up at the deadline; after five times nothing is asked for a while',
      ],
      [
        'apparel21/faults/installation.test.ts',
        'a back office that never answers costs its own service alone, also where more write than there are connections',
      ],
    ],
    [
      75,
      'It answers byte by byte',
      [
        'apparel21/faults/timing.test.ts',
        'an answer that comes byte by byte ends at the deadline, in its head and in its body',
      ],
    ],
    [
      76,
      'It answers with a page of its web server',
      [
        'apparel21/faults/answers.test.ts',
        'a page of the web server is 502, whatever its status, and nothing of it passes through',
      ],
    ],
    [
      77,
      'Its XML is cut off or broken',
      [
        'apparel21/faults/answers.test.ts',
        'XML that is cut off or broken is asked for once more, and then is 502; nothing is stored of it',
      ],
    ],
    [
      78,
      'Another root, another order, more elements, carriage returns, a byte order mark',
      [
        'apparel21/faults/answers.test.ts',
        'oddities that change no meaning are read as if they were not there; another root is 502',
      ],
    ],
    [
      79,
      'A document type, external entities, a milliard laughs',
      [
        'apparel21/faults/answers.test.ts',
        'a document type is 502: no entity explodes, no file is read, and nobody is called',
      ],
    ],
    [
      80,
      'A body of a gigabyte, or without an end',
      [
        'apparel21/faults/answers.test.ts',
        'a body of a gigabyte, or without an end, is cut off: 502, and memory stays',
      ],
    ],
    [
      81,
      'Its own errors: 404 with 5008, refusals with a code',
      [
        'apparel21/faults/answers.test.ts',
        'what the back office does not have is 404, what it refuses is 4xx or 502 in our words',
      ],
    ],
    [
      82,
      'Its password was changed',
      [
        'apparel21/faults/installation.test.ts',
        'a password that is refused is 503 without trying again and again, raises an alert, and the right one settles it',
      ],
    ],
    [
      83,
      'It redirects elsewhere',
      ['apparel21/faults/installation.test.ts', 'a redirect is not followed, and the credentials go nowhere'],
    ],
    [
      84,
      'Its certificate has expired, or is of another host',
      [
        'apparel21/faults/installation.test.ts',
        'a certificate that is expired, of another host or of nobody known is refused; a CA file helps, a switch of the process does not',
      ],
    ],
    [
      85,
      'The second of two calls fails',
      [
        'apparel21/faults/answers.test.ts',
        'the value of a reference is never silently missing: where it cannot be fetched, nothing is told or stored',
      ],
    ],
    [
      86,
      'The stamp of a person is stale when it is written',
      ['apparel21/writes/customer-changes.test.ts', 'after three such changes it is given up, and nothing is written'],
      [
        'apparel21/writes/customer-changes.test.ts',
        'what the head office changes between our reading and writing is kept',
      ],
      [
        'apparel21/sync/overtaken.test.ts',
        'a pull does not put old values over those of a write that came before its page was put in',
      ],
    ],
    [
      87,
      'A PUT clears what it lacks, while somebody edits there',
      ['apparel21/writes/customer-changes.test.ts', 'nothing that a change does not mention is cleared'],
      [
        'apparel21/writes/customer-changes.test.ts',
        'what the head office changes between our reading and writing is kept',
      ],
      [
        'apparel21/sync/overtaken.test.ts',
        'a pull does not put old values over those of a write that came before its page was put in',
      ],
    ],
    [
      88,
      'It comes and goes',
      [
        'apparel21/faults/timing.test.ts',
        'a back office that comes and goes is asked by one at a time, and every answer is right or 503',
      ],
      ['apparel21/client/failures.test.ts', 'of many calls in an outage at most a tenth are repeats'],
    ],
    [
      89,
      'The same page for ever, repeated or shuffled pages',
      [
        'apparel21/faults/answers.test.ts',
        'pages that repeat or are shuffled are found out: the list stays as it was, and the failure is told',
      ],
      ['apparel21/client/paging.test.ts', 'pages that are shuffled are found out'],
    ],
    [
      90,
      'Its clock is an hour off',
      [
        'apparel21/faults/timing.test.ts',
        'a clock of the back office that is an hour off loses no change, poll after poll',
      ],
    ],
    [
      91,
      '429 and 503 with Retry-After',
      [
        'apparel21/faults/timing.test.ts',
        'Retry-After is obeyed: a short one is waited out, a long one is passed on and nothing is asked until then',
      ],
    ],
  ],
}

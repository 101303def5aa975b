import type { Section } from './fault.ts'

export const lists: Section = {
  title: 'Lists, cursors and times',
  cases: [
    [
      53,
      'Every byte of a cursor is changed',
      ['api/lists/cursors.test.ts', 'a cursor with any changed byte or character is rejected'],
    ],
    [54, 'A cursor of one tenant is used by another', ['api/lists/cursors.test.ts', 'a cursor belongs to its service']],
    [
      55,
      'A cursor of customers is used for transactions',
      ['api/lists/cursors.test.ts', 'a cursor belongs to its list'],
    ],
    [
      56,
      'The filter is changed in the middle of a walk',
      ['api/lists/cursors.test.ts', 'a cursor belongs to its filters'],
    ],
    [
      57,
      'A cursor is used days later, at another process, with other keys',
      ['api/lists/lists.test.ts', 'a cursor never expires and is valid in another process'],
      ['runtime/start-secret.test.ts', '`tillbridge …` with another secret stops with one line that says what to do'],
      [
        'runtime/start-secret.test.ts',
        'correcting the secret restores cursors, sessions and stored responses',
      ],
    ],
    [
      58,
      'Cursors of 64 KB, with NUL, `__proto__`, SQL',
      ['api/lists/cursors.test.ts', 'any string that was never a cursor is rejected'],
      ['api/lists/cursors.test.ts', 'a cursor of 64 KB is rejected before it is decoded'],
    ],
    [
      59,
      'Page sizes of 0, -1, 101, a milliard, letters',
      ['api/lists/lists.test.ts', 'a limit must be an integer from 1 to 100'],
    ],
    [
      60,
      'Records come, change and go during a walk',
      ['api/lists/lists.test.ts', 'a record changed during pagination appears once or in the next poll'],
    ],
    [
      61,
      'A transaction commits late',
      ['api/lists/concurrent.test.ts', 'the next poll returns a change that began first and committed last'],
      ['api/lists/concurrent.test.ts', 'a polling reader misses nothing from eight writers committing out of order'],
    ],
    [
      62,
      'Thousands of records have one time stamp',
      ['api/lists/lists.test.ts', '5,000 records with one change timestamp appear once at any page size'],
    ],
    [
      63,
      '`updated_after` is just the time of a record; the source counts seconds',
      ['api/lists/times.test.ts', '… in … mean … and range ends are exclusive'],
      [
        'apparel21/sync/marks.test.ts',
        'a sync continues after the newest change minus duration and overlap',
      ],
    ],
    [
      64,
      'A range ends before it begins',
      ['api/lists/times.test.ts', 'a range that ends before its start is rejected as such'],
    ],
    [
      65,
      'Times that cannot be, or can be read in two ways',
      ['api/lists/times.test.ts', 'an unreadable or nonexistent time is rejected with its parameter name'],
      ['api/lists/times.test.ts', 'an offset with an unescaped plus is rejected'],
      ['api/lists/moments.test.ts', 'only a day that exists in the calendar is accepted'],
    ],
    [
      66,
      '`updated_after` before release 2022.1',
      [
        'drivers/customers.ts',
        'changed customers are listed from version 2022.1, before with a warning',
      ],
    ],
    [
      67,
      'Releases of one and two digits, with a letter, missing, on a broken page',
      ['api/lists/moments.test.ts', 'back office versions compare by year, then number, then letter'],
      ['apparel21/client/release.test.ts', 'the version is found on the root page in any markup'],
      [
        'apparel21/client/release.test.ts',
        'an unknown version counts as too old and a pinned version wins',
      ],
      [
        'apparel21/client/release.test.ts',
        'a known version stays in use while its page is unavailable',
      ],
    ],
    [
      68,
      '`asc` is TRUE, 1, empty, given twice',
      ['api/requests/requests.test.ts', '`asc` must be exactly true or false'],
    ],
    [
      69,
      'All sales are of one midnight',
      ['api/lists/lists.test.ts', 'transactions of one midnight keep their order by id in both directions'],
    ],
    [
      70,
      'A result has exactly 0, 100, 200 records',
      ['api/lists/lists.test.ts', 'a list of … ends on page … with a last cursor'],
      ['api/lists/lists.test.ts', 'an empty list has no cursor but returns an asOf for polling'],
    ],
    [
      71,
      'E-commerce identifiers, with and without `updated_after`',
      ['api/mappings/customers.test.ts', 'a mapped customer is shown with its identifiers unless they are omitted'],
    ],
    [
      72,
      'All 541,909 real lines are walked',
      ['import/real-data.test.ts', 'each record is listed once on full pages'],
    ],
  ],
}

import type { Section } from './fault.ts'

export const lists: Section = {
  title: 'Lists, cursors and times',
  cases: [
    [
      53,
      'Every byte of a cursor is changed',
      ['api/lists/cursors.test.ts', 'a cursor with any changed byte or character is rejected'],
    ],
    [
      54,
      'A cursor of one service is used in another',
      ['api/lists/cursors.test.ts', 'a cursor belongs to its service'],
    ],
    [
      55,
      'A cursor of customers is used for transactions',
      ['api/lists/cursors.test.ts', 'a cursor belongs to its list'],
    ],
    [
      56,
      'The filter changes during a pagination session',
      ['api/lists/cursors.test.ts', 'a cursor belongs to its filters'],
    ],
    [
      57,
      'A cursor is used days later, in another process, with other keys',
      ['api/lists/lists.test.ts', 'a cursor never expires and is valid in another process'],
      ['runtime/start-secret.test.ts', '`tillbridge …` with a wrong secret stops with a remedy'],
      ['runtime/start-secret.test.ts', 'correcting the secret restores cursors, sessions and stored responses'],
    ],
    [
      58,
      'A cursor has 64 KB or contains NUL, `__proto__` or SQL',
      ['api/lists/cursors.test.ts', 'any string that was never a cursor is rejected'],
      ['api/lists/cursors.test.ts', 'a cursor of 64 KB is rejected before it is decoded'],
    ],
    [
      59,
      'Page sizes are 0, -1, 101, a billion or letters',
      ['api/lists/lists.test.ts', 'a limit must be an integer from 1 to 100'],
    ],
    [
      60,
      'Records are added, changed and removed during a pagination session',
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
      'Thousands of records share one change timestamp',
      ['api/lists/lists.test.ts', '5,000 records with one change timestamp appear once at any page size'],
    ],
    [
      63,
      "`updated_after` equals a record's time, and the source counts in seconds",
      ['api/lists/times.test.ts', '… in … mean … and range ends are exclusive'],
      ['apparel21/sync/checkpoints.test.ts', 'a sync continues after the newest change minus duration and overlap'],
    ],
    [
      64,
      'A range ends before it starts',
      ['api/lists/times.test.ts', 'a range that ends before its start is rejected as such'],
    ],
    [
      65,
      'Times are impossible or ambiguous',
      ['api/lists/times.test.ts', 'an unreadable or nonexistent time is rejected with its parameter name'],
      ['api/lists/times.test.ts', 'an offset with an unescaped plus is rejected'],
      ['api/lists/timestamps.test.ts', 'only a day that exists in the calendar is accepted'],
    ],
    [
      66,
      '`updated_after` is used before version 2022.1',
      ['drivers/customers.ts', 'changed customers are listed from version 2022.1, before with a warning'],
    ],
    [
      67,
      'Versions have one or two digits, a letter, no value or a broken page',
      ['api/lists/timestamps.test.ts', 'back office versions compare by year, then number, then letter'],
      ['apparel21/client/release.test.ts', 'the version is found on the root page in any markup'],
      ['apparel21/client/release.test.ts', 'an unknown version counts as too old and a pinned version wins'],
      ['apparel21/client/release.test.ts', 'a known version stays in use while its page is unavailable'],
    ],
    [
      68,
      '`asc` is TRUE, 1, empty or repeated',
      ['api/requests/requests.test.ts', '`asc` must be exactly true or false'],
    ],
    [
      69,
      'All sales are at one midnight',
      ['api/lists/lists.test.ts', 'transactions of one midnight keep their order by id in both directions'],
    ],
    [
      70,
      'A result has exactly 0, 100 or 200 records',
      ['api/lists/lists.test.ts', 'a list of … ends on page … with a last cursor'],
      ['api/lists/lists.test.ts', 'an empty list has no cursor but returns an asOf for polling'],
    ],
    [
      71,
      'E-commerce identifiers are filtered with and without `updated_after`',
      ['api/mappings/customers.test.ts', 'a mapped customer is shown with its identifiers unless they are omitted'],
    ],
    [
      72,
      'All 541,909 lines of real data are paginated',
      ['import/real-data.test.ts', 'each record is listed once on full pages'],
    ],
  ],
}

import type { Section } from './fault.ts'

export const operation: Section = {
  title: 'Overload and operation',
  cases: [
    [
      210,
      'Load grows suddenly from 10 to 500 clients',
      [
        'api/requests/crowding.test.ts',
        'growing load gets responses or Retry-After, and no acknowledged write is lost',
      ],
    ],
    [
      211,
      'Load continues for hours',
      ['apparel21/soak.test.ts', 'records agree after faults and kills, and the checks find planted errors'],
    ],
    [
      212,
      'Every client retries after an outage',
      ['client/faults.test.ts', 'a call survives a restart of the server'],
      ['apparel21/faults/timing.test.ts', 'an unstable back office is probed singly and never yields wrong data'],
      ['runtime/chaos.test.ts', 'kills with a slow Apparel21 leave no open or diverging write'],
    ],
    [
      213,
      'Full load reaches a process with empty caches',
      ['apparel21/histories.test.ts', 'a new process makes each call once under concurrent requests'],
      ['apparel21/histories.test.ts', 'concurrent history requests cause one call per customer'],
    ],
    [
      214,
      'Two services use the same identifier',
      ['api/access/tenants.test.ts', 'concurrent responses of several services never mix, even with errors'],
      ['api/access/tenants.test.ts', 'two services can use the same identifiers, codes and email addresses'],
    ],
    [
      215,
      'Readiness is checked while PostgreSQL or the back office is down',
      ['runtime/outages.test.ts', 'requests return 503 with Retry-After until PostgreSQL is back'],
      ['apparel21/rewards.test.ts', 'capabilities of an unreachable back office assume no version'],
    ],
    [
      216,
      'Two releases use one database',
      [
        'faults/two-releases.test.ts',
        'two consecutive releases serve one database without failed requests during migration',
      ],
    ],
    [
      217,
      'An older release finds a newer database',
      ['runtime/start-database.test.ts', 'a database of a later version is rejected in one line'],
    ],
    [
      218,
      'Settings are invalid, a key file is missing, or PostgreSQL is another version',
      ['runtime/start-settings.test.ts', 'every invalid setting is listed without secrets and nothing starts'],
      ['runtime/start-secret.test.ts', 'a command without secret reports it and creates none'],
      ['postgres/postgres.test.ts', 'a data directory of another major version is rejected'],
      ['postgres/older.test.ts', 'a start upgrades an older PostgreSQL safely and keeps a copy'],
    ],
    [
      219,
      'An installed package differs from the published one or runs a script',
      ['conventions/dependencies.test.ts', 'each installed package is pinned by its hash'],
      ['conventions/dependencies.test.ts', 'only listed packages run scripts when they are installed'],
    ],
    [
      220,
      'Every 429 and 503 response is checked',
      ['api/openapi/traffic.test.ts', 'internal errors and database outages match the document'],
      ['runtime/outages.test.ts', 'requests return 503 with Retry-After until PostgreSQL is back'],
      ['api/requests/rates.test.ts', 'responses show the rate limit; excess requests are rejected until the reset'],
    ],
  ],
}

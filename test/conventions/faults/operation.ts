import type { Section } from './fault.ts'

export const operation: Section = {
  title: 'Overload and operation',
  cases: [
    [
      210,
      'Load grows from 10 clients to 500 at once',
      [
        'api/requests/crowding.test.ts',
        'growing load gets responses or Retry-After, and no acknowledged write is lost',
      ],
    ],
    [
      211,
      'Hours of load',
      [
        'apparel21/soak.test.ts',
        'after changes, faults and kills all records agree, and the checks find planted errors',
      ],
    ],
    [
      212,
      'Everybody repeats after an outage',
      ['client/faults.test.ts', 'a call goes on while the service is stopped and started'],
      [
        'apparel21/faults/timing.test.ts',
        'a back office that comes and goes is asked by one at a time, and every answer is right or 503',
      ],
      ['runtime/chaos.test.ts', 'after kills with a slow Apparel21 no write is open and both sides agree'],
    ],
    [
      213,
      'Full load on a process that knows nothing yet',
      [
        'apparel21/histories.test.ts',
        'a process that knows nothing yet and is asked by everybody at once asks the back office for each thing once at a time',
      ],
      ['apparel21/histories.test.ts', 'many requests for one customer at once ask once, and for two customers twice'],
    ],
    [
      214,
      'The same identifier in two tenants',
      ['api/access/tenants.test.ts', 'concurrent responses of several services never mix, even with errors'],
      ['api/access/tenants.test.ts', 'two services can use the same identifiers, codes and email addresses'],
    ],
    [
      215,
      'Readiness while PostgreSQL or the back office is down',
      [
        'runtime/outages.test.ts',
        'without PostgreSQL answers are 503 with the time to wait, and come again once it is back',
      ],
      [
        'apparel21/rewards.test.ts',
        'capabilities of a back office that cannot be reached say so, and that of no release is assumed what needs one',
      ],
    ],
    [
      216,
      'Two releases on one database',
      [
        'faults/two-releases.test.ts',
        'a release and the next one serve the same database, while it is migrated and after: no request of either fails',
      ],
    ],
    [
      217,
      'An older release finds a newer database',
      ['runtime/start-database.test.ts', 'a database of a later version is refused in one line'],
    ],
    [
      218,
      'Settings that are bad, a key file that is missing, another PostgreSQL',
      [
        'runtime/start-settings.test.ts',
        'every bad setting is named in a line of its own, secrets are not repeated, and nothing is started',
      ],
      ['runtime/start-secret.test.ts', 'without any secret it says so, and makes none'],
      ['postgres/postgres.test.ts', 'a data directory of another major version is refused in one line'],
      [
        'postgres/older.test.ts',
        'a start carries a database of an older PostgreSQL over, whatever ends it in between, and keeps a copy',
      ],
    ],
    [
      219,
      'What is installed is not what was published; a package runs a script',
      ['conventions/dependencies.test.ts', 'each package that is installed is pinned to its bytes'],
      ['conventions/dependencies.test.ts', 'no package runs a script when it is installed but those that are named'],
    ],
    [
      220,
      'Every 429 and 503',
      ['api/openapi/traffic.test.ts', 'internal errors and database outages match the document'],
      [
        'runtime/outages.test.ts',
        'without PostgreSQL answers are 503 with the time to wait, and come again once it is back',
      ],
      ['api/requests/rates.test.ts', 'responses show the rate limit; excess requests are rejected until the reset'],
    ],
  ],
}

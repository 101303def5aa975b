import type { Section } from './fault.ts'

export const machine: Section = {
  title: 'Database and machine',
  cases: [
    [
      108,
      'PostgreSQL is killed under load',
      [
        'runtime/crashes.test.ts',
        'PostgreSQL that is killed at … leaves one effect behind, once the request is repeated',
      ],
      ['runtime/chaos.test.ts', 'after random kills every write took effect once and every ledger adds up'],
    ],
    [
      109,
      'One session of PostgreSQL is killed, at which it ends all of them',
      ['faults/scenarios.test.ts', 'a halted PostgreSQL and a killed session lose and repeat no write'],
      ['runtime/outages.test.ts', 'connections that are cut under a load are 503 at the most, and it goes on'],
    ],
    [
      110,
      'All of PostgreSQL is halted for half a minute',
      ['faults/scenarios.test.ts', 'a halted PostgreSQL and a killed session lose and repeat no write'],
      [
        'runtime/outages.test.ts',
        'a connection that stands still is given up in time, in and out of a transaction, and not used again',
      ],
      [
        'runtime/outages.test.ts',
        'while all of PostgreSQL stands still statements are given up long before their time, and the next ones at once; a slow one is not',
      ],
    ],
    [
      111,
      'More requests than there are connections',
      ['api/requests/turns.test.ts', 'the limiter admits as many requests as there are connections'],
      ['api/requests/turns.test.ts', 'a request not admitted within 5 s is 503 and leaves nothing'],
    ],
    [
      112,
      'A deadlock; a database whose transactions are serializable unless told otherwise',
      ['api/requests/conflicts.test.ts', 'an order aborted by a deadlock is retried and placed once'],
      ['api/requests/conflicts.test.ts', 'concurrent writes succeed if the default transaction isolation is …'],
    ],
    [
      113,
      'The disk of PostgreSQL is full, that of its journal too',
      [
        'faults/full-disk.test.ts',
        'writes are refused with the time to wait, the log says why, reads go on, and nothing is lost',
      ],
      ['faults/full-disk.test.ts', 'an import says that there is no room, and what of it is in'],
      [
        'faults/full-disk.test.ts',
        'once there is room it goes on by itself, and what was acknowledged is answered again',
      ],
      [
        'faults/full-disk.test.ts',
        'PostgreSQL that ends because its journal has no room comes back once there is some',
      ],
    ],
    [
      114,
      'The disk of the log is full',
      [
        'faults/full-log.test.ts',
        'requests go on while it is full, and the log goes on once there is room, with how many lines it lacks',
      ],
    ],
    [
      115,
      'No more files may be opened',
      [
        'faults/little.test.ts',
        'with no file left to open, who is connected is answered or told when to come again, and all are once the crowd has gone',
      ],
    ],
    [
      116,
      'A small heap under load',
      [
        'faults/little.test.ts',
        'with a small heap, a crowd that asks for large pages is answered or told when to come again, and the process lives',
      ],
    ],
    [
      117,
      'The processor is taken away',
      [
        'faults/little.test.ts',
        'with most of the processor taken away, writes are done once and answered, or refused with the time to wait, and liveness is told',
      ],
    ],
    [
      118,
      'SIGTERM under load',
      [
        'runtime/start-stop.test.ts',
        'what still runs at the end of DRAIN_SECONDS is cut off, and PostgreSQL is stopped',
      ],
      [
        'runtime/start.test.ts',
        '… finishes a request that runs, refuses new connections, stops PostgreSQL and exits with 0',
      ],
      ['runtime/start-workers.test.ts', '… lets every worker finish what runs, and exits with 0'],
    ],
    [
      119,
      'A process is halted after its effect at the back office, while another carries out its write',
      [
        'apparel21/writes/halted.test.ts',
        'of a process that is halted at … until another one has carried out its write there is one effect, and it is told what came of it',
      ],
      [
        'apparel21/writes/halted.test.ts',
        'a process that was halted for the whole time of its claim does not tell the back office any more',
      ],
    ],
    [
      120,
      'The clock jumps back an hour, and on by a day',
      ['faults/clocks.test.ts', '… holds vouchers, repeats writes, reads lists and does jobs as the other one does'],
    ],
    [
      121,
      'Two processes start on one data directory',
      [
        'runtime/start.test.ts',
        'a second start on the data directory is refused in one line, and the first is undisturbed',
      ],
      ['postgres/owners.test.ts', 'of processes that start together exactly one owns the directory'],
    ],
    [
      122,
      'The data directory is copied at any moment, and started',
      [
        'faults/copies.test.ts',
        'the data directory as it is at any moment, copied and started, has all that was acknowledged, and nothing by halves',
      ],
    ],
    [
      123,
      'A migration is killed in its middle',
      [
        'runtime/start-database.test.ts',
        'a migration that is killed in its middle leaves nothing, and the next one completes',
      ],
    ],
    [
      124,
      'A backup under load is restored',
      [
        'faults/copies.test.ts',
        'a backup that is taken while shoppers order, return and pay with vouchers is restored with all that was acknowledged before, and every ledger adds up',
      ],
      [
        'backup/backup.test.ts',
        'a backup that is taken while customers are written has each one that was acknowledged before, and nothing by halves',
      ],
      [
        'backup/backup.test.ts',
        'what was backed up is restored, row by row, with all keys, indexes, triggers and counters',
      ],
    ],
    [
      125,
      'A byte in a file of data is flipped',
      [
        'faults/flipped-byte.test.ts',
        'a byte that is flipped in a file of data is told, in the log and as a fault, and nothing of the page is shown',
      ],
    ],
  ],
}

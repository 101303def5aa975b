import type { Section } from './fault.ts'

export const machine: Section = {
  title: 'Database and machine',
  cases: [
    [
      108,
      'PostgreSQL is killed under load',
      ['runtime/crashes.test.ts', 'a PostgreSQL killed at … leaves one effect after the repeat'],
      ['runtime/chaos.test.ts', 'writes take effect once and ledgers balance after random kills'],
    ],
    [
      109,
      'One PostgreSQL session is killed, which ends all sessions',
      ['faults/scenarios.test.ts', 'a halted PostgreSQL and a killed session lose and repeat no write'],
      ['runtime/outages.test.ts', 'cut connections under load cause at most 503 responses'],
    ],
    [
      110,
      'PostgreSQL is halted for half a minute',
      ['faults/scenarios.test.ts', 'a halted PostgreSQL and a killed session lose and repeat no write'],
      ['runtime/outages.test.ts', 'a hanging connection times out and is not reused'],
      ['runtime/outages.test.ts', 'statements fail fast while PostgreSQL hangs, but slow ones do not'],
    ],
    [
      111,
      'More requests arrive than there are connections',
      ['api/requests/write-queue.test.ts', 'the limiter admits as many requests as there are connections'],
      ['api/requests/write-queue.test.ts', 'a request not admitted within 5 s is 503 and leaves nothing'],
    ],
    [
      112,
      'A deadlock occurs, or transactions are serializable by default',
      ['api/requests/conflicts.test.ts', 'an order aborted by a deadlock is retried and placed once'],
      ['api/requests/conflicts.test.ts', 'concurrent writes succeed if the default transaction isolation is …'],
    ],
    [
      113,
      'The disk of PostgreSQL or of its WAL is full',
      ['faults/full-disk.test.ts', 'writes are rejected with Retry-After, reads continue and nothing is lost'],
      ['faults/full-disk.test.ts', 'an import reports the full disk and its stored lines'],
      ['faults/full-disk.test.ts', 'service recovers automatically and acknowledged writes are replayed'],
      ['faults/full-disk.test.ts', 'PostgreSQL recovers after stopping for lack of WAL space'],
    ],
    [
      114,
      'The log disk is full',
      ['faults/full-log.test.ts', 'requests continue, and the log resumes with its count of lost lines'],
    ],
    [
      115,
      'File descriptors are exhausted',
      ['faults/low-resources.test.ts', 'connected clients get responses despite exhausted file descriptors'],
    ],
    [
      116,
      'The heap is small under load',
      ['faults/low-resources.test.ts', 'a small heap survives a crowd that requests large pages'],
    ],
    [
      117,
      'The processor is starved',
      ['faults/low-resources.test.ts', 'a starved processor executes writes once and stays live'],
    ],
    [
      118,
      'SIGTERM arrives under load',
      ['runtime/start-stop.test.ts', 'requests still running after DRAIN_SECONDS are cut off'],
      ['runtime/start-stop.test.ts', 'a hanging step is named in the log, and PostgreSQL still stops'],
      ['runtime/start-stop.test.ts', 'a step that blocks the event loop is logged and killed'],
      ['runtime/start.test.ts', '… finishes running requests, stops PostgreSQL and exits with 0'],
      ['runtime/start-workers.test.ts', '… lets every worker finish and exits with 0'],
    ],
    [
      119,
      'A process is halted after its back office call while another finishes its write',
      ['apparel21/writes/halted.test.ts', 'a process halted at … returns the result of another process'],
      ['apparel21/writes/halted.test.ts', 'a process halted longer than its lease makes no back office call'],
    ],
    [
      120,
      'The clock jumps back an hour or forward a day',
      ['faults/clocks.test.ts', 'a clock that … does not affect locks, repeats, reads or jobs'],
    ],
    [
      121,
      'Two processes start on one data directory',
      ['runtime/start.test.ts', 'a second start is rejected without disturbing the first'],
      ['postgres/owners.test.ts', 'one of several processes starting together owns the directory'],
    ],
    [
      122,
      'A running data directory is copied and started',
      ['faults/data-copies.test.ts', 'a copied data directory starts with all acknowledged writes'],
    ],
    [
      123,
      'A migration is killed midway',
      ['runtime/start-database.test.ts', 'a killed migration leaves nothing and the next completes it'],
    ],
    [
      124,
      'A backup taken under load is restored',
      ['faults/data-copies.test.ts', 'a backup during sales restores all acknowledged writes and correct ledgers'],
      ['backup/backup.test.ts', 'a backup during writes contains every acknowledged customer completely'],
      ['backup/backup.test.ts', 'a restore recreates every row, key, index, trigger and sequence'],
    ],
    [
      125,
      'A byte in a data file is flipped',
      ['faults/flipped-byte.test.ts', 'a flipped byte in a data file is logged and never served'],
    ],
  ],
}

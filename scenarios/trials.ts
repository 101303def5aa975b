/** What is tried for minutes, or needs what a checkout does not bring: a file each, run by `npm run trial -- <name>`. */
export const trials = {
  specification: { file: 'specification/run.ts', what: 'the statements of the specification, row by row' },
  release: {
    file: 'packaging/release.ts',
    what: 'a release on a bare Debian, read-only, as a user who may do nothing; as root',
  },
  image: {
    file: 'packaging/image.ts',
    what: "the image, built of the Dockerfile by Debian's buildah, and run as compose.yaml does; as root",
  },
  compose: {
    file: 'packaging/compose.ts',
    what: "deploy/compose.yaml, run by Debian's podman-compose: up, stopped, down and up again; as root",
  },
  recovery: {
    file: 'faults/recovery.ts',
    what: "back to a moment between two backups, with Debian's PostgreSQL and its log archived",
  },
  'halted-database': {
    file: 'faults/halted-database.ts',
    what: 'PostgreSQL stands still, then goes on; one of its sessions is killed',
  },
  processes: {
    file: 'faults/processes.ts',
    what: 'three processes that serve behind HAProxy, two workers: restarted in turn, cut off, clocks apart',
  },
  failover: {
    file: 'faults/failover.ts',
    what: 'the primary is killed under load, and its synchronous standby promoted',
  },
  replicas: {
    file: 'faults/replicas.ts',
    what: 'lists and changes are followed through replicas that are late, stop, jump and stand still',
  },
  primaries: {
    file: 'faults/primaries.ts',
    what: 'services are moved between three servers under load, and one of the servers is killed',
  },
  move: {
    file: 'faults/move.ts',
    what: 'a service of a million customers is moved to another server while it is written and followed',
  },
  crowds: {
    file: 'faults/crowds.ts',
    what: 'clients that stall, and what is held for them: files, memory, sessions of the database',
  },
  'halted-process': {
    file: 'faults/halted-process.ts',
    what: 'a process stands still after its effect at the back office, and another carries out its writes',
  },
  tenants: {
    file: 'faults/tenants.ts',
    what: 'many tenants on few connections, among errors, timeouts and kills: nobody sees, or changes, what is not theirs',
  },
  millions: {
    file: 'millions/run.ts',
    what: 'millions of lines go in through imports that are killed, and come out again as they were, to the byte',
  },
  step: { file: 'faults/step.ts', what: 'load that grows from 10 clients to 500 at once, and falls again' },
  holder: { file: 'faults/holder.ts', what: 'many histories of shoppers who want one voucher of an Apparel21' },
  load: { file: 'faults/load.ts', what: 'a load of orders at an Apparel21 that is slow, hangs and loses answers' },
  guessing: { file: 'faults/guessing.ts', what: 'whether time tells a wrong PIN from an unknown number' },
} as const satisfies Record<string, { file: string; what: string }>

/** Runs that take minutes, or need programs that a checkout doesn't bring. `npm run scenario -- <name>` runs one. */
export const scenarios = {
  chaos: {
    file: 'chaos/run.ts',
    summary: 'kills processes and PostgreSQL while shoppers write, and checks that each write took effect once',
  },
  soak: {
    file: 'soak/run.ts',
    summary: 'shoppers, back-office staff, outages and kills for minutes, then every list and write is compared',
  },
  outsiders: {
    file: 'outsiders/run.ts',
    summary: 'malformed JSON, naughty strings, h2spec, sslyze and Schemathesis; run it before each release',
  },
  specification: { file: 'specification/run.ts', summary: 'the statements of the specification, row by row' },
  release: {
    file: 'packaging/release.ts',
    summary: 'runs a release on a bare Debian, read-only, as an unprivileged user; needs root',
  },
  image: {
    file: 'packaging/image.ts',
    summary: "builds the image with Debian's buildah and runs it like compose.yaml; needs root",
  },
  compose: {
    file: 'packaging/compose.ts',
    summary:
      "runs deploy/compose.evaluation.yaml with Debian's podman-compose: up, stop, down and up again; needs root",
  },
  recovery: {
    file: 'faults/recovery.ts',
    summary: "recovers to a time between two backups with Debian's PostgreSQL and its WAL archive",
  },
  'halted-database': {
    file: 'faults/halted-database.ts',
    summary: 'halts PostgreSQL, resumes it, and kills one of its sessions',
  },
  processes: {
    file: 'faults/processes.ts',
    summary: 'restarts three API processes behind HAProxy and two workers, isolates one, shifts clocks',
  },
  failover: {
    file: 'faults/failover.ts',
    summary: 'kills the primary under load and promotes its synchronous standby',
  },
  patroni: {
    file: 'faults/patroni.ts',
    summary: 'kills, freezes and switches the primary of a Patroni cluster under load, and kills the leader of etcd',
  },
  replicas: {
    file: 'faults/replicas.ts',
    summary: 'polls lists and changes through replicas that are late, pause, jump and hang',
  },
  primaries: {
    file: 'faults/primaries.ts',
    summary: 'moves services between three servers under load, and kills one of the servers',
  },
  move: {
    file: 'faults/move.ts',
    summary: 'moves a service of a million customers to another server while clients write and read changes',
  },
  crowds: {
    file: 'faults/crowds.ts',
    summary: 'clients that stall, and the files, memory and database sessions that they cost',
  },
  hostile: {
    file: 'faults/hostile.ts',
    summary: 'long cells, headers and bodies, and floods, with 64 and 300 clients, while /health/live is requested',
  },
  'last-units': {
    file: 'faults/last-units.ts',
    summary: 'clients want the last units while a process is killed and stock is imported: none is sold twice',
  },
  'stock-model': {
    file: 'faults/stock-model.ts',
    summary:
      'compares the stock with a model after random orders, returns, exchanges, imports and syncs at two processes',
  },
  'stock-push': {
    file: 'faults/stock-push.ts',
    summary: 'kills the processes that push stock to an e-commerce platform; no level is wrong afterwards',
  },
  medusa: {
    file: 'medusa/run.ts',
    summary: 'pushes stock to a real Medusa, kills either side, and compares every level; installs Medusa once',
  },
  'halted-process': {
    file: 'faults/halted-process.ts',
    summary: 'halts a process after the back office applied its writes, so that another process finishes them',
  },
  tenants: {
    file: 'faults/tenants.ts',
    summary: 'many tenants on few connections, among errors, timeouts and kills: none sees records of another',
  },
  millions: {
    file: 'millions/run.ts',
    summary: 'imports millions of lines with kills, and compares the exported records byte by byte',
  },
  step: { file: 'faults/step.ts', summary: 'load that grows from 10 to 500 clients at once, and falls again' },
  states: {
    file: 'faults/states.ts',
    summary: 'ships and returns thousands of orders at an Apparel21 with kills; each state is published once',
  },
  releases: {
    file: 'faults/releases.ts',
    summary: 'runs the contract of the drivers with each release of the Retail API that the simulator knows',
  },
  holder: { file: 'faults/holder.ts', summary: 'many histories of shoppers who want one voucher of an Apparel21' },
  load: {
    file: 'faults/load.ts',
    summary: 'orders under load with an Apparel21 that is slow, hangs and loses responses',
  },
  guessing: {
    file: 'faults/guessing.ts',
    summary: 'measures whether response times distinguish a wrong PIN from an unknown number',
  },
} as const satisfies Record<string, { file: string; summary: string }>

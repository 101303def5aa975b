import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { backoff, finishesWithin, sleep } from '../../concurrency/backoff.ts'
import { singleFlight } from '../../concurrency/single-flight.ts'
import { type Db, openDatabase } from '../db.ts'
import { getServerName } from '../endpoints.ts'
import { DatabaseUnavailable } from '../errors.ts'
import {
  assessHealth,
  describeHealth,
  hasReached,
  probeServer,
  type ReplicaHealth,
  type ReplicaProbe,
} from './health.ts'
import { type Lsn, parseLsn } from './lsn.ts'
import type { LsnHistory } from './lsn-history.ts'

/** The outcomes of reads that were sent to a replica. */
interface Counts {
  answered: number
  /** Reads for which the replica had not replayed far enough. */
  behind: number
  failed: number
}

/** A standby that answers reads up to the LSN that it has replayed. */
export interface Replica {
  name: string
  pool: pg.Pool
  readonly health: ReplicaHealth
  readonly counts: Readonly<Counts>
  /** Reads in flight. */
  readonly busy: number
  /** True if the replica is likely to answer a read at this LSN. */
  mayHave(lsn: Lsn): boolean
  /** Runs a read on the replica. Returns undefined within about a second if the replica has not replayed far enough, fails or doesn't answer. */
  read<T>(lsn: Lsn, work: (db: Db) => Promise<T>): Promise<{ value: T } | undefined>
  close(): Promise<unknown>
}

/** Milliseconds between two probes of a replica, and the maximum for an unreachable one. */
const probeIntervalMs = 1_000
const maxProbeIntervalMs = 15_000
/** Milliseconds after which a slow replica is probed, and within which the probe must be answered. */
const probeTimeoutMs = 100
/** Maximum milliseconds of a read on a replica that answers probes: its disk can hang, and probes need no disk. */
const maxReadMs = 1_000
/** Milliseconds for which a replica that was behind gets no reads beyond the LSN that it has replayed. */
const behindBackoffMs = 50
/** Extra probes, one millisecond apart, of a replica that is almost far enough, and the number of bytes that counts as almost. */
const [maxExtraProbes, nearBytes] = [3, 1n << 20n]

interface ReplicaOptions {
  max: number
  pooled: boolean
  history: LsnHistory
  /** Called with one line when the replica is no longer used, and when it is used again. */
  onNotice: (notice: string) => void
}

/** Opens a replica and starts to probe it, without waiting. Until its first successful probe it gets no reads. */
export function openReplica(server: pg.ClientConfig, { max, pooled, history, onNotice }: ReplicaOptions): Replica {
  const name = getServerName(server)
  const open = (maxConnections: number, statementTimeoutMs: number) =>
    // A read that would wait for a lock of the replay goes to the primary instead.
    openDatabase(server, {
      max: maxConnections,
      acceptStandby: true,
      pooled,
      statementTimeoutMs,
      lockTimeoutMs: probeTimeoutMs,
    })
  const [reads, probes] = [open(max, 5_000), open(1, 1_000)]
  const counts: Counts = { answered: 0, behind: 0, failed: 0 }
  const shutdown = new AbortController()
  const replay = trackReplay()
  let health: ReplicaHealth = { state: 'unknown' }
  let pausedUntil = 0
  const pauses = backoff({ initialMs: probeIntervalMs, maxMs: maxProbeIntervalMs })
  let busy = 0

  function setHealth(current: ReplicaHealth) {
    const previous = health.state
    health = current
    if (current.state === previous || shutdown.signal.aborted) return
    if (current.state !== 'ready')
      onNotice(`Replica ${name} skipped: ${describeHealth(current)}. The primary answers instead.`)
    else if (previous !== 'unknown') onNotice(`Replica ${name} used again.`)
  }

  const share = singleFlight()
  /** Probes the replica over a separate connection. Concurrent callers share a probe. */
  const probe = (): Promise<ReplicaProbe> => share('probe', () => probes.withConnection(probeServer))

  async function watch() {
    const delays = backoff({ initialMs: 2 * probeIntervalMs, maxMs: maxProbeIntervalMs })
    while (!shutdown.signal.aborted) {
      const probed = probe()
      if (!(await finishesWithin(probed, probeIntervalMs)))
        setHealth({ state: 'unreachable', error: new Error('it does not answer') })
      const current = await probed.then(
        (result): ReplicaHealth => assessHealth(result, history),
        (error): ReplicaHealth => ({ state: 'unreachable', error }),
      )
      // A successful probe does not end the pause after a read that timed out.
      if (current.state !== 'ready' || performance.now() >= pausedUntil) setHealth(current)
      if (current.state !== 'unreachable') delays.reset()
      const delayMs = current.state === 'unreachable' ? delays.next() : probeIntervalMs
      await sleep(delayMs, { ref: false, signal: shutdown.signal })
    }
  }

  /** Pauses the use of the replica after a read timed out. The pause doubles until a read succeeds; successful probes don't end it. */
  function pause() {
    if (performance.now() < pausedUntil) return
    pausedUntil = performance.now() + pauses.next()
    setHealth({ state: 'unreachable', error: new Error('it answers probes, but its reads time out') })
  }

  /** Returns the result of a read. Returns undefined if the replica doesn't answer probes, or can't be connected to soon. */
  async function awaitUnlessUnresponsive<T>(read: Promise<T>, hasBegun: () => boolean): Promise<T | undefined> {
    const latest = performance.now() + maxReadMs
    while (!(await finishesWithin(read, probeTimeoutMs))) {
      const isResponsive = finishesWithin(probe(), probeTimeoutMs)
      void isResponsive.then(
        responds => responds || setHealth({ state: 'unreachable', error: new Error('it does not answer') }),
      )
      // A slow connection attempt does not show that the server hangs.
      if (hasBegun() && (await isResponsive)) {
        if (performance.now() < latest) continue
        pause()
      }
      counts.failed++
      return
    }
    return read
  }

  void watch()
  return {
    name,
    pool: reads.pool,
    get health() {
      return health
    },
    counts,
    get busy() {
      return busy
    },
    mayHave: lsn =>
      health.state === 'ready' && busy < max && performance.now() >= Math.max(pausedUntil, replay.getBackoffEnd(lsn)),
    async read(lsn, work) {
      busy++
      let hasBegun = false
      const read = reads
        .withConnection(async (db, pid) => {
          hasBegun = true
          if (await replay.waitFor(db, pid, lsn)) return { value: await work(db) }
          counts.behind++
          return undefined
        })
        .finally(() => busy--)
      try {
        const result = await awaitUnlessUnresponsive(read, () => hasBegun)
        if (result) {
          counts.answered++
          pauses.reset()
        }
        return result
      } catch (error) {
        // The primary runs the read instead. If the statement is wrong, it fails there too.
        counts.failed++
        if (error instanceof DatabaseUnavailable) setHealth({ state: 'unreachable', error: error.cause ?? error })
        return
      }
    },
    async close() {
      shutdown.abort()
      await Promise.all([reads.close(), probes.close()])
    },
  }
}

/** Tracks up to which LSN the servers behind a replica's connections have replayed. */
function trackReplay() {
  /** The last known LSN of each connection's server. A connection stays with its server, and the LSN never decreases. */
  const lastLsns = new WeakMap<Db, Lsn>()
  let replayed: Lsn | undefined
  let behindUntil = 0

  async function probeUntilReached(db: Db, pid: number | undefined, required: Lsn): Promise<boolean> {
    for (let attemptsLeft = maxExtraProbes; ; attemptsLeft--) {
      const { isStandby, isLent, lsn } = await probeServer(db, pid)
      const current = isStandby && !isLent && lsn !== null ? parseLsn(lsn) : undefined
      if (!current) return false
      lastLsns.set(db, current)
      replayed = current
      if (hasReached(current, required)) return true
      if (!attemptsLeft || current.log !== required.log || required.at - current.at > nearBytes) return false
      await delay(1)
    }
  }

  return {
    /** True if the server of a connection has replayed up to the LSN, or does so within a few milliseconds. */
    async waitFor(db: Db, pid: number | undefined, required: Lsn): Promise<boolean> {
      if (hasReached(lastLsns.get(db), required)) return true
      const hasCaughtUp = await probeUntilReached(db, pid, required)
      if (!hasCaughtUp) behindUntil = performance.now() + behindBackoffMs
      return hasCaughtUp
    },
    /** Returns until when (`performance.now()`) reads at this LSN should use another server. */
    getBackoffEnd: (required: Lsn) => (hasReached(replayed, required) ? 0 : behindUntil),
  }
}

/** Connects to a replica and returns its health. Waits up to 2 s for the newest WAL. */
export async function checkReplica(
  server: pg.ClientConfig,
  { pooled, history }: Pick<ReplicaOptions, 'pooled' | 'history'>,
) {
  const db = openDatabase(server, { max: 1, acceptStandby: true, pooled, statementTimeoutMs: 5_000 })
  try {
    const probe = (): Promise<ReplicaHealth> =>
      db.withConnection(probeServer).then(
        result => assessHealth(result, history),
        error => ({ state: 'unreachable', error: error.cause ?? error }),
      )
    let health = await probe()
    // The newest WAL may not have arrived yet.
    for (let attemptsLeft = 40; health.state === 'unknown' && attemptsLeft > 0; attemptsLeft--) {
      await delay(50)
      health = await probe()
    }
    return { name: getServerName(server), health }
  } finally {
    await db.close()
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { backoff, sleep } from '../../concurrency/backoff.ts'
import { type Db, openDatabase } from '../db.ts'
import { getServerName } from '../endpoints.ts'
import { DatabaseUnavailable } from '../errors.ts'
import { assessHealth, describeHealth, hasReached, type ReplicaHealth, type ReplicaProbe, reachedBy } from './health.ts'
import { parseWalPosition, type WalPosition } from './lsn.ts'
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
  readonly busy: number
  /** True if the replica is likely to answer a read at this LSN. */
  mayHave(position: WalPosition): boolean
  /** Runs a read on the replica. Returns undefined, soon, if the replica has not replayed far enough, fails or doesn't answer. */
  read<T>(position: WalPosition, work: (db: Db) => Promise<T>): Promise<{ value: T } | undefined>
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
  trail: LsnHistory
  /** Called with one line when the replica is no longer used, and when it is used again. */
  onNotice: (notice: string) => void
}

export function openReplica(server: pg.ClientConfig, { max, pooled, trail, onNotice }: ReplicaOptions): Replica {
  const name = getServerName(server)
  const open = (most: number, statementTimeoutMs: number) =>
    // A read that would wait for a lock of the replay goes to the primary instead.
    openDatabase(server, { max: most, straight: true, pooled, statementTimeoutMs, lockTimeoutMs: probeTimeoutMs })
  const [reads, looks] = [open(max, 5_000), open(1, 1_000)]
  const counts: Counts = { answered: 0, behind: 0, failed: 0 }
  const ending = new AbortController()
  let standing: ReplicaHealth = { state: 'unknown' }
  let replayed: WalPosition | undefined
  let restsUntil = 0
  let [pausedUntil, pauseMs] = [0, 0]
  let busy = 0

  function stand(now: ReplicaHealth) {
    const before = standing.state
    standing = now
    if (now.state === before || ending.signal.aborted) return
    if (now.state !== 'ready') onNotice(`Replica ${name} skipped: ${describeHealth(now)}. The primary answers instead.`)
    else if (before !== 'unknown') onNotice(`Replica ${name} used again.`)
  }

  let look: Promise<ReplicaProbe> | undefined
  /** Probes the replica over a separate connection. Concurrent callers share a probe. */
  function lookOnce(): Promise<ReplicaProbe> {
    look ??= looks.withConnection(reachedBy).finally(() => {
      look = undefined
    })
    return look
  }

  async function watch() {
    const delays = backoff({ initialMs: 2 * probeIntervalMs, maxMs: maxProbeIntervalMs })
    while (!ending.signal.aborted) {
      const looked = lookOnce()
      if (!(await settlesWithin(looked, probeIntervalMs)))
        stand({ state: 'away', fault: new Error('it does not answer') })
      const now = await looked.then(
        (found): ReplicaHealth => assessHealth(found, trail),
        (fault): ReplicaHealth => ({ state: 'away', fault }),
      )
      // A successful probe does not end the pause after a read that timed out.
      if (now.state !== 'ready' || performance.now() >= pausedUntil) stand(now)
      if (now.state !== 'away') delays.reset()
      const delayMs = now.state === 'away' ? delays.next() : probeIntervalMs
      await sleep(delayMs, { ref: false, signal: ending.signal })
    }
  }

  /** The last known LSN of each connection's server. A connection stays with its server, and the LSN never decreases. */
  const seen = new WeakMap<Db, WalPosition>()

  async function hasReplayed(db: Db, pid: number | undefined, wanted: WalPosition): Promise<boolean> {
    if (hasReached(seen.get(db), wanted)) return true
    const isThere = await comesTo(db, pid, wanted)
    if (!isThere) {
      counts.behind++
      restsUntil = performance.now() + behindBackoffMs
    }
    return isThere
  }

  /** True if the replica has replayed up to the LSN, or does so within a few milliseconds. */
  async function comesTo(db: Db, pid: number | undefined, wanted: WalPosition): Promise<boolean> {
    for (let left = maxExtraProbes; ; left--) {
      const { isStandby, isLent, lsn } = await reachedBy(db, pid)
      const now = isStandby && !isLent && lsn !== null ? parseWalPosition(lsn) : undefined
      if (!now) return false
      seen.set(db, now)
      replayed = now
      if (hasReached(now, wanted)) return true
      if (!left || now.log !== wanted.log || wanted.at - now.at > nearBytes) return false
      await delay(1)
    }
  }

  /** Pauses the use of the replica after a read timed out. The pause doubles until a read succeeds; successful probes don't end it. */
  function pause() {
    if (performance.now() < pausedUntil) return
    pauseMs = Math.min(Math.max(2 * pauseMs, probeIntervalMs), maxProbeIntervalMs)
    pausedUntil = performance.now() + pauseMs
    stand({ state: 'away', fault: new Error('it answers probes, but its reads time out') })
  }

  /** Returns the result of a read. Returns undefined if the replica doesn't answer probes, or can't be connected to soon. */
  async function unlessSilent<T>(asked: Promise<T>, hasBegun: () => boolean): Promise<T | undefined> {
    const latest = performance.now() + maxReadMs
    while (!(await settlesWithin(asked, probeTimeoutMs))) {
      const answers = settlesWithin(lookOnce(), probeTimeoutMs)
      void answers.then(is => is || stand({ state: 'away', fault: new Error('it does not answer') }))
      // A slow connection attempt does not show that the server hangs.
      if (hasBegun() && (await answers)) {
        if (performance.now() < latest) continue
        pause()
      }
      counts.failed++
      return
    }
    return asked
  }

  void watch()
  return {
    name,
    pool: reads.pool,
    get health() {
      return standing
    },
    counts,
    get busy() {
      return busy
    },
    mayHave: position =>
      standing.state === 'ready' &&
      busy < max &&
      performance.now() >= (hasReached(replayed, position) ? pausedUntil : Math.max(pausedUntil, restsUntil)),
    async read(position, work) {
      busy++
      let hasBegun = false
      const asked = reads
        .withConnection(async (db, pid) => {
          hasBegun = true
          return (await hasReplayed(db, pid, position)) ? { value: await work(db) } : undefined
        })
        .finally(() => busy--)
      try {
        const answer = await unlessSilent(asked, () => hasBegun)
        if (answer) {
          counts.answered++
          pauseMs = 0
        }
        return answer
      } catch (fault) {
        // The primary runs the read instead. If the statement is wrong, it fails there too.
        counts.failed++
        if (fault instanceof DatabaseUnavailable) stand({ state: 'away', fault: fault.cause ?? fault })
        return
      }
    },
    async close() {
      ending.abort()
      await Promise.all([reads.close(), looks.close()])
    },
  }
}

/** True if a promise is resolved or rejected within `ms` milliseconds. */
const settlesWithin = (work: Promise<unknown>, ms: number) =>
  new Promise<boolean>(resolve => {
    const timer = setTimeout(() => resolve(false), ms)
    const end = () => {
      clearTimeout(timer)
      resolve(true)
    }
    work.then(end, end)
  })

import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { backoff, sleep } from '../../concurrency/backoff.ts'
import { type Db, openDatabase } from '../db.ts'
import { getServerName } from '../endpoints.ts'
import { DatabaseUnavailable } from '../errors.ts'
import { assessHealth, describeHealth, hasReached, type ReplicaHealth, type ReplicaProbe, reachedBy } from './health.ts'
import { parsePosition, type WalPosition } from './lsn.ts'
import type { LsnHistory } from './lsn-history.ts'

/** What became of reads that a replica was asked for. */
interface Counts {
  answered: number
  /** It had not come so far. */
  behind: number
  failed: number
}

/** A standby that answers reads of what it has replayed. */
export interface Replica {
  name: string
  pool: pg.Pool
  readonly standing: ReplicaHealth
  readonly counts: Readonly<Counts>
  readonly busy: number
  /** Whether it is worth asking. */
  mayHave(position: WalPosition): boolean
  /** What the replica answers; undefined, and soon, where it has not come so far, fails or is silent. */
  answer<T>(position: WalPosition, work: (db: Db) => Promise<T>): Promise<{ value: T } | undefined>
  close(): Promise<unknown>
}

/** Milliseconds between two looks at a replica, and at most between two at one that is away. */
const probeIntervalMs = 1_000
const maxProbeIntervalMs = 15_000
/** A replica that has not answered for so many milliseconds is asked whether it is there at all, and has as long to say so. */
const probeTimeoutMs = 100
/** Milliseconds that an answer of a replica which is there may take: its disk may hang, and looks need no disk. */
const maxReadMs = 1_000
/** Milliseconds for which a replica that had not come far enough is not asked for more than it has. */
const behindBackoffMs = 50
/** How many more looks, a millisecond apart, there are at a replica that is nearly there; and how many bytes before it that is at most. */
const [maxExtraProbes, nearBytes] = [3, 1n << 20n]

interface ReplicaOptions {
  max: number
  pooled: boolean
  trail: LsnHistory
  /** Told, in a line each, when it is left out and when it is back. */
  onNotice: (notice: string) => void
}

export function openReplica(server: pg.ClientConfig, { max, pooled, trail, onNotice }: ReplicaOptions): Replica {
  const name = getServerName(server)
  const open = (most: number, statementTimeoutMs: number) =>
    // Whoever would wait for what the replica is about to replay asks the primary.
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
    if (now.state !== 'ready')
      onNotice(`The replica ${name} is left out: ${describeHealth(now)}. The primary answers instead.`)
    else if (before !== 'unknown') onNotice(`The replica ${name} answers again.`)
  }

  let look: Promise<ReplicaProbe> | undefined
  /** Looks at it, over a connection of its own; many share a look. */
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
      // That it can be looked at does not say that it reads.
      if (now.state !== 'ready' || performance.now() >= pausedUntil) stand(now)
      if (now.state !== 'away') delays.reset()
      const delayMs = now.state === 'away' ? delays.next() : probeIntervalMs
      await sleep(delayMs, { ref: false, signal: ending.signal })
    }
  }

  /** How far the server of each connection was seen to have come. A connection stays with its server, which never goes back. */
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

  /** Whether the replica has come there, or does within a few milliseconds. */
  async function comesTo(db: Db, pid: number | undefined, wanted: WalPosition): Promise<boolean> {
    for (let left = maxExtraProbes; ; left--) {
      const { isStandby, isLent, position } = await reachedBy(db, pid)
      const now = isStandby && !isLent && position !== null ? parsePosition(position) : undefined
      if (!now) return false
      seen.set(db, now)
      replayed = now
      if (hasReached(now, wanted)) return true
      if (!left || now.log !== wanted.log || wanted.at - now.at > nearBytes) return false
      await delay(1)
    }
  }

  /**
   * Has the replica rest, because an answer did not come: longer each time, until one comes. Looks that are answered do not end the rest.
   */
  function pause() {
    if (performance.now() < pausedUntil) return
    pauseMs = Math.min(Math.max(2 * pauseMs, probeIntervalMs), maxProbeIntervalMs)
    pausedUntil = performance.now() + pauseMs
    stand({ state: 'away', fault: new Error('it says that it is there, and does not end what it reads') })
  }

  /**
   * The answer to what is asked, unless the replica turns out to be silent or cannot be connected to soon. One that is only slow says that
   * it is there.
   */
  async function unlessSilent<T>(asked: Promise<T>, hasBegun: () => boolean): Promise<T | undefined> {
    const latest = performance.now() + maxReadMs
    while (!(await settlesWithin(asked, probeTimeoutMs))) {
      const answers = settlesWithin(lookOnce(), probeTimeoutMs)
      void answers.then(is => is || stand({ state: 'away', fault: new Error('it does not answer') }))
      // What is slow to connect says nothing of the server.
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
    get standing() {
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
    async answer(position, work) {
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
        // The primary is asked instead: where the statement is to blame it fails there, too.
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

/** Whether work has ended, well or not, within so many milliseconds. */
const settlesWithin = (work: Promise<unknown>, ms: number) =>
  new Promise<boolean>(resolve => {
    const timer = setTimeout(() => resolve(false), ms)
    const end = () => {
      clearTimeout(timer)
      resolve(true)
    }
    work.then(end, end)
  })

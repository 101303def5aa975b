import { setTimeout as delay } from 'node:timers/promises'
import { pullFeed } from '../src/backoffice/sync/pull.ts'
import { seeded } from '../trials/random.ts'
import type { Verdict } from '../trials/verdict.ts'
import { type Client, clientOf, type Troubles } from './client.ts'
import { judge } from './judge.ts'
import { type Deed, kinds, type Shared, shop, type Voucher } from './shoppers.ts'
import { isOfOffice, staff } from './staff.ts'
import { follow, watch } from './watchers.ts'
import { weather } from './weather.ts'
import { type Opening, openWorld, type World } from './world.ts'

export interface Soaking extends Opening {
  seconds: number
  shoppers: number
  /** Told about once a second. */
  onProgress?: (progress: Progress) => void
}

export interface Progress {
  seconds: number
  writes: number
  changes: number
  refusals: number
}

/** What a run has come to; the world is still there. */
export interface Soaked {
  world: World
  deeds: readonly Deed[]
  /** How often each fault met a request, and what clients saw of it. */
  faults: ReadonlyMap<string, number>
  troubles: ReadonlyMap<string, number>
  changes: ReadonlyMap<string, number>
  /** Compares everything once more. */
  judge(): Promise<Verdict[]>
  close(): Promise<void>
}

/** Has everybody at work for so many seconds, ends all faults, waits until every write is settled, and pulls everything once more. */
export async function soak({ seconds, shoppers, onProgress = () => {}, ...opening }: Soaking): Promise<Soaked> {
  const { seed } = opening
  const world = await openWorld(opening)
  const { simulator } = world
  const random = (part: number) => seeded(seed * 1_009 + part)
  const troubles: Troubles = { byCode: new Map() }
  const clients: Client[] = []
  const newClient = (part: number) => {
    const client = clientOf(world.servers, world.headers, random(part), troubles)
    clients.push(client)
    return client
  }
  const close = async () => {
    for (const client of clients) client.close()
    await world.close()
  }
  let phase: 'soaking' | 'settling' | 'over' = 'soaking'
  try {
    await firstPull(world)
    const usedBefore = new Map([...simulator.state.vouchers.values()].map(({ number, used }) => [number, used]))
    const lastBefore = Math.max(...simulator.state.persons.keys())
    const shared: Shared = { deeds: [], settled: new Set(), vouchers: () => vouchersIn(world), contradictions: [] }
    const owned = [...simulator.state.persons.values()].filter(person => person.email && !isOfOffice(person))
    const isOver = () => phase !== 'soaking'
    const isDone = () => phase === 'over'

    const shopping = Array.from({ length: shoppers }, (_, i) => {
      const own = owned.filter((_, place) => place % shoppers === i).map(({ id, email }) => ({ id: String(id), email }))
      return shop(`s${seed}-${i}`, newClient(100 + i), random(200 + i), own, shared, isOver)
    })
    const isUnsettled: Parameters<typeof staff>[2] = made => {
      const key = 'lines' in made ? made.lines[0]?.returnReasonNotes : made.id > lastBefore && made.email.split('@')[0]
      return typeof key === 'string' && !shared.settled.has(key)
    }
    const staffing = staff(simulator, random(1), isUnsettled, isOver)
    const faulting = weather(simulator, random(2), isOver)
    const watching = watch(world, isDone)
    const following = ['/customers/search', '/inventory'].map((path, i) => follow(newClient(10 + i), path, isDone))
    const all = [...shopping, staffing, faulting, watching, ...following]
    const failed = Promise.all(all).then(() => new Promise<never>(() => {}))
    const began = performance.now()
    // On a busy machine a short run may not come to every kind of write in its time: of what was not tried nothing is known.
    const isMissing = () => kinds.some(kind => !shared.deeds.some(deed => deed.kind === kind))
    const passed = () => (performance.now() - began) / 1_000
    const until = async () => {
      while (passed() < seconds || (passed() < 60 && isMissing())) {
        await delay(Math.min(1_000, seconds * 100))
        const refusals = [...troubles.byCode.values()].reduce((sum, times) => sum + times, 0)
        const changes = simulator.ledger.effects.filter(({ request }) => request === null).length
        onProgress({ seconds: passed(), writes: shared.deeds.length, changes, refusals })
      }
    }
    try {
      await Promise.race([until(), failed])
    } finally {
      phase = 'settling'
    }
    const [done, faults] = await Promise.all([staffing, faulting])
    await Promise.all(shopping)
    simulator.change({ kind: 'allot-vouchers' })
    await world.stopJobs()
    await pullEverything(world)
    phase = 'over'
    const seen = await Promise.all([watching, ...following])
    const judging = { world, shared, done, usedBefore, client: newClient(3), seen, troubles: troubles.byCode }
    return {
      world,
      deeds: shared.deeds,
      faults,
      troubles: troubles.byCode,
      changes: done.changes,
      close,
      judge: () => judge(judging),
    }
  } catch (error) {
    phase = 'over'
    simulator.faults.clear()
    await close()
    throw error
  }
}

/** Vouchers that shoppers have in hand: some of those that were there, and those that the back office has mailed. */
const vouchersIn = ({ simulator: { state } }: World): Voucher[] => [
  ...[...state.vouchers.values()]
    .filter(({ currency, secure, state: is }) => currency === 'AUD' && secure && is === 'issued')
    .slice(0, 12)
    .map(({ number, pin }) => ({ number, pin })),
  ...state.mail.slice(-20).map(({ voucher, pin }) => ({ number: voucher, pin })),
]

/** Waits until the jobs have brought all there is for the first time. */
async function firstPull({ db, driver: { feeds } }: World) {
  for (const until = performance.now() + 60_000; performance.now() < until; await delay(100)) {
    const { rows } = await db.pool.query('select feed from sync_state where finished_at is not null')
    if (rows.length === feeds.length) return
  }
  throw new Error('The jobs have not pulled every feed within 60 s, with no fault yet.')
}

/** Everything, and then what has changed: stock below nothing is told only there. */
async function pullEverything({ db, service, driver }: World) {
  for (const full of [true, false])
    for (const feed of driver.feeds)
      for (const until = performance.now() + 30_000; ; await delay(300)) {
        // The breaker may still be open, and a run that was stopped not be given up yet.
        const pulled = await pullFeed(db, service, driver, feed, { full }).catch((error: Error) => error)
        if ('result' in pulled) break
        if (performance.now() > until) throw new Error(`${feed.name} cannot be pulled: ${JSON.stringify(pulled)}`)
      }
}

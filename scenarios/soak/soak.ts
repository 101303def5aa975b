import { setTimeout as delay } from 'node:timers/promises'
import { deathsOf } from '../support/borders.ts'
import { seeded } from '../support/random.ts'
import type { Verdict } from '../support/verdict.ts'
import { type Client, clientOf, type Troubles } from './client.ts'
import { judge } from './judge.ts'
import { kills, untilSettled } from './kills.ts'
import { openOffice } from './office.ts'
import { type Customer, type Deed, kinds, type Shared, shop, type Voucher } from './shoppers.ts'
import { follow } from './watchers.ts'
import { isBehind, type Opening, openWorld, type World } from './world.ts'

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
  /** Who was killed, and where. */
  killed: string
  /** Compares everything once more. */
  judge(): Promise<Verdict[]>
  close(): Promise<void>
}

/**
 * Has everybody at work for so many seconds, kills and fails meanwhile, ends all faults, waits until every write is settled, by its client or
 * by the job, and pulls everything once more.
 */
export async function soak({ seconds, shoppers, onProgress = () => {}, ...opening }: Soaking): Promise<Soaked> {
  const { seed } = opening
  const world = await openWorld(opening)
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
  const isOver = () => phase !== 'soaking'
  const isDone = () => phase === 'over'
  try {
    const office = isBehind(world) ? await openOffice(world) : undefined
    const deeds: Deed[] = []
    const vouchers = () => office?.vouchers() ?? soldTo(deeds)
    const shared: Shared = { deeds, settled: new Set(), vouchers, contradictions: [] }
    const customers = office?.customers ?? (await customersOf(newClient(4)))
    const shopping = Array.from({ length: shoppers }, (_, i) => {
      const own = customers.filter((_, place) => place % shoppers === i)
      return shop(`s${seed}-${i}`, newClient(100 + i), random(200 + i), own, shared, isOver)
    })
    const working = office?.work(shared, random, isOver, isDone)
    const killing = kills(world, random(3), isOver)
    const following = ['/customers/search', '/inventory'].map((path, i) => follow(newClient(10 + i), path, isDone))
    const all = [...shopping, working?.ended, working?.watching, killing, ...following]
    const failed = Promise.all(all).then(() => new Promise<never>(() => {}))
    const began = performance.now()
    // On a busy machine a short run may not come to every kind of write in its time: of what was not tried nothing is known.
    const isMissing = () => kinds.some(kind => !deeds.some(deed => deed.kind === kind))
    const passed = () => (performance.now() - began) / 1_000
    const until = async () => {
      while (passed() < seconds || (passed() < 60 && isMissing())) {
        await delay(Math.min(1_000, seconds * 100))
        const refusals = [...troubles.byCode.values()].reduce((sum, times) => sum + times, 0)
        onProgress({ seconds: passed(), writes: deeds.length, changes: office?.changes() ?? 0, refusals })
      }
    }
    try {
      await Promise.race([until(), failed])
    } finally {
      phase = 'settling'
    }
    const worked = await working?.ended
    await Promise.all([...shopping, killing])
    await untilSettled(world)
    const killed = deathsOf([...world.servers, ...world.workers])
    await Promise.all(world.workers.map(worker => worker.end()))
    await office?.catchUp()
    phase = 'over'
    const seen = await Promise.all([...(working ? [working.watching] : []), ...following])
    const judging = { world, shared, client: newClient(3), seen, troubles: troubles.byCode }
    const behind = office && worked && { usedBefore: office.usedBefore, done: worked.done }
    return {
      world,
      deeds,
      faults: worked?.faults ?? new Map(),
      troubles: troubles.byCode,
      changes: worked?.done.changes ?? new Map(),
      killed,
      close,
      judge: () => judge({ ...judging, behind }),
    }
  } catch (error) {
    phase = 'over'
    world.simulator?.faults.clear()
    await close()
    throw error
  }
}

/** Vouchers that were sold, where they are there at once. */
const soldTo = (deeds: readonly Deed[]): Voucher[] =>
  deeds
    .filter(({ kind }) => kind === 'sale')
    .flatMap(
      ({
        answer: {
          json: { data },
        },
      }) => (data?.number && data.pin ? [{ number: data.number, pin: data.pin }] : []),
    )
    .slice(-20)

/** Customers that are there, as the API lists them. */
async function customersOf(client: Client): Promise<Customer[]> {
  const { json } = await client.ask<{ id: string; contact: { email: string | null } }[]>({
    method: 'GET',
    path: '/customers/search?limit=60',
  })
  return (json.data ?? []).flatMap(({ id, contact: { email } }) => (email ? [{ id, email }] : []))
}

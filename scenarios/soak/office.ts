import { setTimeout as delay } from 'node:timers/promises'
import { pullFeed } from '../../src/backoffice/run-sync.ts'
import type { Feed } from '../../src/domain/sync/port.ts'
import type { Random } from '../support/random.ts'
import type { Customer, Shared, Voucher } from './shoppers.ts'
import { isOfOffice, staff } from './staff.ts'
import { watch } from './watchers.ts'
import { weather } from './weather.ts'
import type { WorldBehind } from './world.ts'

/** The back office behind, with what goes on there. */
export type Office = Awaited<ReturnType<typeof openOffice>>

/** Waits until all of it is here for the first time. */
export async function openOffice(world: WorldBehind) {
  await firstPull(world)
  const { simulator } = world
  const { state } = simulator
  const lastBefore = Math.max(...state.persons.keys())
  /** Whether a person or a return was made by a client that has not been told yet. */
  const isUnsettled =
    ({ settled }: Shared): Parameters<typeof staff>[2] =>
    made => {
      const key = 'lines' in made ? made.lines[0]?.returnReasonNotes : made.id > lastBefore && made.email.split('@')[0]
      return typeof key === 'string' && !settled.has(key)
    }
  return {
    usedBefore: new Map([...state.vouchers.values()].map(({ number, used }) => [number, used])),
    /** Those whom shoppers may change. */
    customers: [...state.persons.values()]
      .filter(person => person.email && !isOfOffice(person))
      .map(({ id, email }): Customer => ({ id: String(id), email })),
    vouchers: () => vouchersIn(world),
    changes: () => simulator.ledger.effects.filter(({ request }) => request === null).length,
    /** Its people work, and it fails, until it is over; it is watched until all is done. */
    work(shared: Shared, random: (part: number) => Random, isOver: () => boolean, isDone: () => boolean) {
      const staffing = staff(simulator, random(1), isUnsettled(shared), isOver)
      const faulting = weather(simulator, random(2), isOver)
      return {
        ended: Promise.all([staffing, faulting]).then(([done, faults]) => ({ done, faults })),
        watching: watch(world, isDone),
      }
    },
    /** Pulls all that there is once more. */
    async catchUp() {
      simulator.change({ kind: 'allot-vouchers' })
      await pullEverything(world)
    },
  }
}

/** Vouchers that shoppers have in hand: some of those that were there, and those that the back office has mailed. */
const vouchersIn = ({ simulator: { state } }: WorldBehind): Voucher[] => [
  ...[...state.vouchers.values()]
    .filter(({ currency, secure, state: is }) => currency === 'AUD' && secure && is === 'issued')
    .slice(0, 12)
    .map(({ number, pin }) => ({ number, pin })),
  ...state.mail.slice(-20).map(({ voucher, pin }) => ({ number: voucher, pin })),
]

/** Waits until the jobs have brought all there is for the first time. */
async function firstPull({ db, driver: { feeds } }: WorldBehind) {
  for (const until = performance.now() + 60_000; performance.now() < until; await delay(100)) {
    const { rows } = await db.pool.query('select feed from sync_state where finished_at is not null')
    if (rows.length === feeds.length) return
  }
  throw new Error('The jobs have not pulled every feed within 60 s, with no fault yet.')
}

/** Everything, and then what has changed: stock below nothing is told only there. */
async function pullEverything({ db, service, driver }: WorldBehind) {
  for (const full of [true, false])
    for (const feed of driver.feeds)
      for (const until = performance.now() + 30_000; ; await delay(300)) {
        // The breaker may still be open, and a run that was stopped not be given up yet.
        const pulled = await pullFeed(db, service, driver, unhurried(feed), { full }).catch((error: Error) => error)
        if ('result' in pulled) break
        if (performance.now() > until) throw new Error(`${feed.name} cannot be pulled: ${JSON.stringify(pulled)}`)
      }
}

/** One that reads everything only when it is asked to, however long the others took. */
const unhurried = (feed: Feed): Feed =>
  feed.fullEverySeconds === undefined ? feed : { ...feed, fullEverySeconds: 86_400 }

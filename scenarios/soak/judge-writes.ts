import type { Order, Return } from '../../simulator/shop/sales.ts'
import { type Sql, sql } from '../../src/database/db.ts'
import { type Verdict, verdict } from '../support/verdict.ts'
import { gone } from './client.ts'
import { difference } from './compare.ts'
import type { Deed, Kind, Shared } from './shoppers.ts'
import type { Done } from './staff.ts'
import type { WorldBehind } from './world.ts'

const tally = <T>(list: Iterable<T>, keyOf: (one: T) => string) =>
  new Map([...Map.groupBy(list, keyOf)].map(([key, all]) => [key, all.length]))

/** Under which key each write is known to the simulator: something of it that only this write has. */
const keyOfOrder = ({ billing }: Order) => billing.line2
const keyOfReturn = ({ lines }: Return) => lines[0]?.returnReasonNotes ?? ''

/** Whether nobody was told what became of it: it may have been done. */
const isGone = ({ answer }: Deed) => answer.status === gone
const wasDone = ({ answer: { status } }: Deed) => status === 201 || status === 202

/** Holds what clients were told of their writes against the simulator, its ledger, and our tables. */
export async function judgeWrites(world: WorldBehind, shared: Shared, done: Done): Promise<Verdict[]> {
  const { simulator, db, service } = world
  const { state, ledger } = simulator
  const id = service.id
  const orders = [...state.orders.values()]
  const counted = async (query: Sql) =>
    new Map((await db.rows<{ key: string; count: number }>(query)).map(({ key, count }) => [key, count]))
  /** Each acknowledged write once, each refused one never; `strays`: whatever else carries a key. */
  const judge = (what: string, kind: Kind, place: string, effects: ReadonlyMap<string, number>): Verdict => {
    const deeds = shared.deeds.filter(deed => deed.kind === kind)
    const wrong = deeds.flatMap(deed => {
      const is = effects.get(deed.key) ?? 0
      const { status, json, attempts } = deed.answer
      return is === (wasDone(deed) ? 1 : 0) || (isGone(deed) && is === 1)
        ? []
        : [`${deed.key} is there ${is} times, answered ${status} ${json.code ?? ''} at attempt ${attempts}`]
    })
    const known = new Set(deeds.map(({ key }) => key))
    const strays = [...effects.keys()].filter(key => !known.has(key)).map(key => `${key} is nobody's`)
    return verdict(
      `${what} ${place}: each acknowledged one is there once, and none that was refused`,
      [...wrong, ...strays],
      deeds.length,
    )
  }
  const left = new Set(shared.deeds.filter(isGone).map(({ key }) => key))
  const isKey = (key: string) => /^s\d+-\d+-\d+$/.test(key)
  const keyed = (effects: ReadonlyMap<string, number>) => new Map([...effects].filter(([key]) => isKey(key)))
  const isSale = ({ lines }: Order) => lines.some(line => line.voucher)
  const persons = ledger.effectsOf('person created').map(({ facts }) => String(facts.email))
  const made = persons.flatMap(email => /^(.*)@soak\.test$/.exec(email)?.[1] ?? [])
  const orderEffects = new Map(ledger.effectsOf('order created').map(effect => [effect.id, effect]))

  return [
    judge(
      'customers',
      'customer',
      'at the back office',
      tally(made, key => key),
    ),
    judge(
      'customers',
      'customer',
      'here',
      keyed(
        await counted(sql`
      select split_part(email, '@', 1) as key, count(*)::integer as count from customer where service_id = ${id} and email like '%@soak.test' group by 1`),
      ),
    ),
    judge(
      'orders',
      'order',
      'at the back office',
      keyed(
        tally(
          orders.filter(order => !isSale(order)),
          keyOfOrder,
        ),
      ),
    ),
    judge(
      'orders',
      'order',
      'here',
      keyed(
        await counted(sql`
      select billing_address->>'addressLine2' as key, count(*)::integer as count from sales_order where service_id = ${id} and billing_address->>'addressLine2' is not null group by 1`),
      ),
    ),
    judge('returns', 'return', 'at the back office', keyed(tally(state.returns.values(), keyOfReturn))),
    judge(
      'returns',
      'return',
      'here',
      keyed(
        await counted(sql`
      select notes as key, count(distinct return_id)::integer as count from return_line where service_id = ${id} and notes is not null group by 1`),
      ),
    ),
    judge('vouchers sold', 'sale', 'at the back office', keyed(tally(orders.filter(isSale), keyOfOrder))),
    judge('vouchers sold', 'sale', 'by e-mail', keyed(tally(state.mail, ({ subject }) => subject))),
    verdict(
      'vouchers sold: each that was acknowledged, or made for somebody who left, is noted here, under its order, and no other',
      difference(
        [
          ...shared.deeds
            .filter(deed => deed.kind === 'sale' && wasDone(deed))
            .map(({ answer }) => answer.json.data?.orderNumber ?? 'no number'),
          ...orders.filter(order => isSale(order) && left.has(keyOfOrder(order))).map(({ number }) => number),
        ],
        (
          await db.rows<{ key: string }>(
            sql`select order_number as key from upstream_voucher_sale where service_id = ${id} and order_id is not null`,
          )
        ).map(row => row.key),
      ),
    ),
    verdict(
      'receivers of vouchers: nobody was made twice, nobody for a sale that was refused',
      [
        ...tally(
          persons.flatMap(email => /^ann@(.*)\.test$/.exec(email)?.[1] ?? []),
          key => key,
        ),
      ].flatMap(([key, times]) =>
        times === 1 && shared.deeds.some(deed => deed.key === key && (wasDone(deed) || isGone(deed)))
          ? []
          : [`${key}: ${times}`],
      ),
    ),
    verdict(
      'every order of the simulator that its ledger tells of came with one request',
      orders
        .filter(order => isKey(keyOfOrder(order)) && orderEffects.get(String(order.id))?.request == null)
        .map(order => order.number),
    ),
    ...(await judgeChanges(world, shared, done)),
  ]
}

/** What changes a person's fields, from either side. */
async function judgeChanges({ simulator: { state } }: WorldBehind, shared: Shared, done: Done): Promise<Verdict[]> {
  const changes = shared.deeds.filter(deed => deed.kind === 'change')
  const workOf = (deed: Deed): string => (deed.body as { contact: { phones: { work: string } } }).contact.phones.work
  const last = new Map(
    changes.filter(({ answer }) => answer.status === 200).map(deed => [deed.path.slice('/customers/'.length), deed]),
  )
  const refused = new Set(changes.filter(({ answer }) => answer.status !== 200).map(workOf))
  const persons = [...state.persons.values()]
  return [
    verdict(
      'changes: of each customer the last acknowledged one is there',
      [...last].flatMap(([id, deed]) => {
        const is = state.persons.get(Number(id))?.work
        return is === workOf(deed) ? [] : [`${id} has ${is}, not ${workOf(deed)}`]
      }),
      last.size,
    ),
    verdict(
      'changes: none that was refused is there',
      persons.filter(({ work }) => refused.has(work)).map(({ id }) => String(id)),
    ),
    verdict(
      'changes: none undid what head office had said meanwhile',
      [...done.said].flatMap(([id, said]) => {
        const person = state.persons.get(id)
        return person?.title.trim() === said.title && person.home.trim() === said.home
          ? []
          : [`${id}: ${person?.title} ${person?.home}`]
      }),
      done.said.size,
    ),
  ]
}

import { type Sql, sql } from '../../src/database/db.ts'
import { type Verdict, verdict } from '../support/verdict.ts'
import type { Deed, Kind, Shared } from './shoppers.ts'
import type { WorldBehind } from './world.ts'

/** What was made under a key, as one text: its identifier, and what is in it. */
type Told = ReadonlyMap<string, string>

/** Units are told as a minus there once a return has been received. */
const linesOf = (lines: readonly { skuId: number; quantity: number }[]) =>
  lines.map(({ skuId, quantity }) => `${skuId} x ${Math.abs(quantity)}`).sort()

/**
 * Holds what each write has made at the back office against what is stored of it here, and against what its client was told; what clients
 * never asked for again, too.
 */
export async function judgeAlike({ simulator, db, service }: WorldBehind, { deeds }: Shared): Promise<Verdict[]> {
  const { state, ledger } = simulator
  const stored = async (query: Sql): Promise<Told> =>
    new Map((await db.rows<{ key: string; told: string }>(query)).map(({ key, told }) => [key, told]))
  const judge = (what: string, kind: Kind, there: Told, here: Told, isTold: (deed: Deed, told: string) => boolean) => {
    const asked = deeds.filter(deed => deed.kind === kind)
    const wrong = asked.flatMap(deed => {
      const [theirs, own] = [there.get(deed.key), here.get(deed.key)]
      if (theirs !== own) return [`${deed.key} is ${theirs} there, ${own} here`]
      const isWrong = deed.answer.status < 300 && !(own && isTold(deed, own))
      return isWrong ? [`${deed.key} is ${own}, and answered ${deed.answer.json.data?.id}`] : []
    })
    return verdict(`${what}: what is there, what is here, and what was answered is the same`, wrong, asked.length)
  }
  const hasId = ({ answer }: Deed, told: string) => told.split(':')[0] === answer.json.data?.id
  const customers = new Map(
    ledger.effectsOf('person created').map(({ id, facts }) => [String(facts.email).split('@')[0] ?? '', id]),
  )
  const orders = new Map(
    [...state.orders.values()].map(({ id, billing, lines }) => [billing.line2, `${id}: ${linesOf(lines)}`]),
  )
  const returns = new Map(
    [...state.returns.values()].map(({ orderId, lines }) => [
      lines[0]?.returnReasonNotes ?? '',
      `${orderId}: ${linesOf(lines)}`,
    ]),
  )
  return [
    judge(
      'customers',
      'customer',
      customers,
      await stored(sql`
        select split_part(email, '@', 1) as key, id as told from customer where service_id = ${service.id} and email like '%@soak.test'`),
      hasId,
    ),
    judge(
      'orders',
      'order',
      orders,
      await stored(sql`
        select billing_address->>'addressLine2' as key, o.id || ': ' || string_agg(sku_id || ' x ' || quantity, ',' order by sku_id || ' x ' || quantity) as told
          from sales_order o join order_line l on l.service_id = o.service_id and l.order_id = o.id
         where o.service_id = ${service.id} and billing_address->>'addressLine2' is not null group by 1, o.id`),
      hasId,
    ),
    judge(
      'returns',
      'return',
      returns,
      await stored(sql`
        select notes as key, r.order_id || ': ' || string_agg(sku_id || ' x ' || r.quantity, ',') as told
          from return_line r join order_line l on l.service_id = r.service_id and l.order_id = r.order_id and l.sequence = r.order_sequence
         where r.service_id = ${service.id} and notes is not null group by 1, r.order_id`),
      ({ path }, told) => path === `/orders/${told.split(':')[0]}/returns`,
    ),
  ]
}

import { type Sql, sql } from '../../src/database/db.ts'
import { ofOrders, ofVouchers } from '../support/ledgers.ts'
import { type Verdict, verdict } from '../support/verdict.ts'
import { gone } from './client.ts'
import type { Kind, Shared } from './shoppers.ts'
import type { World } from './world.ts'

/** Holds what clients were told of their writes against our tables, where nobody else has them. */
export async function judgeEmbedded({ db, service }: World, { deeds }: Shared): Promise<Verdict[]> {
  const { id } = service
  const once = async (what: string, kind: Kind, query: Sql): Promise<Verdict> => {
    const found = await db.rows<{ key: string; count: number; id: string }>(query)
    const effects = new Map(found.map(effect => [effect.key, effect]))
    const asked = deeds.filter(deed => deed.kind === kind)
    const wrong = asked.filter(({ key, answer: { status, json } }) => {
      const effect = effects.get(key)
      if (status === gone) return effect !== undefined && effect.count !== 1
      const told = json.data?.id ?? json.data?.number
      return status < 300 ? effect?.count !== 1 || effect.id !== told : effect !== undefined
    })
    const known = new Set(asked.map(({ key }) => key))
    const strays = [...effects.keys()].filter(key => !known.has(key)).map(key => `${key} is nobody's`)
    return verdict(
      `${what}: each acknowledged one is there once, as it was answered, and none that was refused`,
      [...wrong.map(({ key, answer }) => `${key} ${answer.status}: ${effects.get(key)?.count ?? 0}`), ...strays],
      asked.length,
    )
  }
  const held = async ([fact, query]: [string, Sql]) =>
    verdict(
      fact,
      (await db.rows<{ key: string }>(query)).map(({ key }) => key),
    )
  const changes = deeds.filter(({ kind }) => kind === 'change')
  const last = new Map(changes.filter(({ answer }) => answer.status === 200).map(deed => [deed.path, deed]))
  const phones = new Map(
    (
      await db.rows<{ path: string; work: string }>(
        sql`select '/customers/' || id as path, substring(record from '"work":"([^"]*)"') as work from customer where service_id = ${id}`,
      )
    ).map(({ path, work }) => [path, work]),
  )
  return [
    await once(
      'customers',
      'customer',
      sql`select split_part(email, '@', 1) as key, count(*)::integer as count, min(id) as id from customer where service_id = ${id} and email like '%@soak.test' group by 1`,
    ),
    await once(
      'orders',
      'order',
      sql`select billing_address->>'addressLine2' as key, count(*)::integer as count, min(id) as id from sales_order where service_id = ${id} and billing_address->>'addressLine2' is not null group by 1`,
    ),
    await once(
      'returns',
      'return',
      sql`select notes as key, count(distinct return_id)::integer as count, min(return_id) as id from return_line where service_id = ${id} and notes is not null group by 1`,
    ),
    await once(
      'vouchers sold',
      'sale',
      sql`select billing_address->>'addressLine2' as key, count(*)::integer as count, min(number) as id from voucher_sale where service_id = ${id} group by 1`,
    ),
    verdict(
      'changes: of each customer the last acknowledged one is there',
      [...last].flatMap(([path, { body }]) => {
        const due = (body as { contact: { phones: { work: string } } }).contact.phones.work
        return phones.get(path) === due ? [] : [`${path} has ${phones.get(path)}, not ${due}`]
      }),
      last.size,
    ),
    ...(await Promise.all(Object.entries({ ...ofOrders(id), ...ofVouchers(id) }).map(held))),
  ]
}

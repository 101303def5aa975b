import { type Db, type Sql, sql } from '../../../src/database/db.ts'
import { type CheckResult, check } from '../expectations/check.ts'
import { abandoned } from '../operations/client.ts'
import type { History, OperationType } from '../operations/history.ts'
import { checkInvariants, embeddedInvariants } from './ledgers.ts'

/** Compares the responses that clients received with our tables, if the embedded back office owns the records. */
export async function checkEmbeddedWrites(db: Db, serviceId: number, history: History): Promise<CheckResult[]> {
  /** Each acknowledged operation has one record, with the ID of the response; a rejected one has none. */
  async function checkOnce(name: string, type: OperationType, query: Sql): Promise<CheckResult> {
    const rows = await db.rows<{ key: string; count: number; id: string }>(query)
    const effects = new Map(rows.map(effect => [effect.key, effect]))
    const operations = history.of(type)
    const wrong = operations.filter(({ key, outcome: { status, data } }) => {
      const effect = effects.get(key)
      if (status === abandoned) return effect !== undefined && effect.count !== 1
      return status < 300 ? effect?.count !== 1 || effect.id !== (data?.id ?? data?.number) : effect !== undefined
    })
    const keys = new Set(operations.map(({ key }) => key))
    const unexpectedEffects = [...effects.keys()].filter(key => !keys.has(key)).map(key => `${key} is unexpected`)
    return check(
      `${name}: each acknowledged one is stored once with the ID of its response, and no rejected one`,
      [
        ...wrong.map(({ key, outcome }) => `${key} ${outcome.status}: ${effects.get(key)?.count ?? 0}`),
        ...unexpectedEffects,
      ],
      operations.length,
    )
  }
  const lastChanges = new Map(history.acknowledged('change').map(({ target, value }) => [target, value]))
  const phones = new Map(
    (
      await db.rows<{ id: string; work: string }>(
        sql`select id, substring(record from '"work":"([^"]*)"') as work from customer where service_id = ${serviceId}`,
      )
    ).map(({ id, work }) => [id, work]),
  )
  return [
    await checkOnce(
      'customers',
      'customer',
      sql`select split_part(email, '@', 1) as key, count(*)::integer as count, min(id) as id from customer where service_id = ${serviceId} and email like '%@shopper.test' group by 1`,
    ),
    await checkOnce(
      'orders',
      'order',
      sql`select billing_address->>'addressLine2' as key, count(*)::integer as count, min(id) as id from sales_order where service_id = ${serviceId} and billing_address->>'addressLine2' is not null group by 1`,
    ),
    await checkOnce(
      'returns',
      'return',
      sql`select notes as key, count(distinct return_id)::integer as count, min(return_id) as id from return_line where service_id = ${serviceId} and notes is not null group by 1`,
    ),
    await checkOnce(
      'vouchers sold',
      'voucherSale',
      sql`select billing_address->>'addressLine2' as key, count(*)::integer as count, min(number) as id from voucher_sale where service_id = ${serviceId} group by 1`,
    ),
    check(
      'changes: each customer has the last acknowledged value',
      [...lastChanges].flatMap(([id = '', value]) =>
        phones.get(id) === value ? [] : [`${id} has ${phones.get(id)}, not ${value}`],
      ),
      lastChanges.size,
    ),
    ...(await checkInvariants(db, embeddedInvariants(serviceId))),
  ]
}

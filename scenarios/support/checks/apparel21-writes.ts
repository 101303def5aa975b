import type { Simulator } from '../../../simulator/control/handle.ts'
import type { Order } from '../../../simulator/shop/sales.ts'
import { type Db, type Sql, sql } from '../../../src/database/db.ts'
import type { StaffWork } from '../actors/staff.ts'
import { type CheckResult, check } from '../expectations/check.ts'
import { abandoned } from '../operations/client.ts'
import { type History, isAcknowledged, type Operation, type OperationType } from '../operations/history.ts'
import { compareKeys } from './compare.ts'

/** Records by the key of the operation that created them. */
type Records = ReadonlyMap<string, string>

const countByKey = <T>(list: Iterable<T>, toKey: (item: T) => string) =>
  new Map([...Map.groupBy(list, toKey)].map(([key, items]) => [key, items.length]))

const isAbandoned = ({ outcome }: Operation) => outcome.status === abandoned
const isShopperKey = (key: string) => /^s\d+-\d+-\d+$/.test(key)
const selectShopperKeys = (effects: ReadonlyMap<string, number>) =>
  new Map([...effects].filter(([key]) => isShopperKey(key)))
const isVoucherSale = ({ lines }: Order) => lines.some(line => line.voucher)

/** Formats lines. The simulator has negative units once a return was received. */
const formatLines = (lines: readonly { skuId: number; quantity: number }[]) =>
  lines.map(({ skuId, quantity }) => `${skuId} x ${Math.abs(quantity)}`).sort()

/** Compares the responses that clients received with the back office, its ledger, and our tables. */
export async function checkApparel21Writes(
  { state, ledger }: Simulator,
  db: Db,
  serviceId: number,
  history: History,
): Promise<CheckResult[]> {
  const orders = [...state.orders.values()]
  const returns = [...state.returns.values()]
  const keyOfOrder = ({ billing }: Order) => billing.line2
  const keyOfReturn = ({ lines }: (typeof returns)[number]) => lines[0]?.returnReasonNotes ?? ''
  const persons = ledger.findEffects('person created').map(({ id, facts }) => ({ id, email: String(facts.email) }))
  const orderEffects = new Map(ledger.findEffects('order created').map(effect => [effect.id, effect]))
  const abandonedKeys = new Set(history.operations.filter(isAbandoned).map(({ key }) => key))

  const countInTables = async (query: Sql) =>
    new Map((await db.rows<{ key: string; count: number }>(query)).map(({ key, count }) => [key, count]))
  const readFromTables = async (query: Sql): Promise<Records> =>
    new Map((await db.rows<{ key: string; record: string }>(query)).map(({ key, record }) => [key, record]))
  const readColumn = async (query: Sql) => (await db.rows<{ value: string }>(query)).map(({ value }) => value)

  /** Each acknowledged operation has one effect, each rejected one none; an abandoned one has at most one. */
  function checkOnce(name: string, type: OperationType, effects: ReadonlyMap<string, number>): CheckResult {
    const operations = history.of(type)
    const wrong = operations.flatMap(operation => {
      const count = effects.get(operation.key) ?? 0
      const { status, code } = operation.outcome
      return count === (isAcknowledged(operation) ? 1 : 0) || (isAbandoned(operation) && count === 1)
        ? []
        : [`${operation.key} is stored ${count} times; the response was ${status} ${code ?? ''}`]
    })
    const keys = new Set(operations.map(({ key }) => key))
    const unexpectedEffects = [...effects.keys()].filter(key => !keys.has(key)).map(key => `${key} is unexpected`)
    return check(
      `${name}: each acknowledged one is stored once, and no rejected one`,
      [...wrong, ...unexpectedEffects],
      operations.length,
    )
  }

  /** The back office, our tables and the response agree, also if the client never repeated the operation. */
  function checkSame(
    name: string,
    type: OperationType,
    upstreamRecords: Records,
    ownRecords: Records,
    isOfResponse: (operation: Operation, id: string) => boolean,
  ): CheckResult {
    const operations = history.of(type)
    const wrong = operations.flatMap(operation => {
      const [upstreamRecord, ownRecord] = [upstreamRecords.get(operation.key), ownRecords.get(operation.key)]
      if (upstreamRecord !== ownRecord)
        return [`${operation.key} is ${upstreamRecord} at the back office, ${ownRecord} in our tables`]
      const isWrong =
        isAcknowledged(operation) && !(ownRecord && isOfResponse(operation, ownRecord.split(':')[0] ?? ''))
      return isWrong ? [`${operation.key} is ${ownRecord}; the response was ${operation.outcome.data?.id}`] : []
    })
    return check(`${name}: back office, our tables and responses agree`, wrong, operations.length)
  }
  const hasId = ({ outcome }: Operation, id: string) => id === outcome.data?.id

  return [
    checkOnce(
      'customers at the back office',
      'customer',
      countByKey(
        persons.flatMap(({ email }) => /^(.*)@shopper\.test$/.exec(email)?.[1] ?? []),
        key => key,
      ),
    ),
    checkOnce(
      'customers in our tables',
      'customer',
      selectShopperKeys(
        await countInTables(sql`
          select split_part(email, '@', 1) as key, count(*)::integer as count from customer where service_id = ${serviceId} and email like '%@shopper.test' group by 1`),
      ),
    ),
    checkOnce(
      'orders at the back office',
      'order',
      selectShopperKeys(
        countByKey(
          orders.filter(order => !isVoucherSale(order)),
          keyOfOrder,
        ),
      ),
    ),
    checkOnce(
      'orders in our tables',
      'order',
      selectShopperKeys(
        await countInTables(sql`
          select billing_address->>'addressLine2' as key, count(*)::integer as count from sales_order where service_id = ${serviceId} and billing_address->>'addressLine2' is not null group by 1`),
      ),
    ),
    checkOnce('returns at the back office', 'return', selectShopperKeys(countByKey(returns, keyOfReturn))),
    checkOnce(
      'returns in our tables',
      'return',
      selectShopperKeys(
        await countInTables(sql`
          select notes as key, count(distinct return_id)::integer as count from return_line where service_id = ${serviceId} and notes is not null group by 1`),
      ),
    ),
    checkOnce(
      'vouchers sold at the back office',
      'voucherSale',
      selectShopperKeys(countByKey(orders.filter(isVoucherSale), keyOfOrder)),
    ),
    checkOnce(
      'vouchers sent by email',
      'voucherSale',
      selectShopperKeys(countByKey(state.mail, ({ subject }) => subject)),
    ),
    check(
      'vouchers sold: our tables have the orders of those that were acknowledged or abandoned, and no others',
      compareKeys(
        [
          ...history.acknowledged('voucherSale').map(({ outcome }) => outcome.data?.orderNumber ?? 'no number'),
          ...orders
            .filter(order => isVoucherSale(order) && abandonedKeys.has(keyOfOrder(order)))
            .map(({ number }) => number),
        ],
        await readColumn(
          sql`select order_number as value from upstream_voucher_sale where service_id = ${serviceId} and order_id is not null`,
        ),
      ),
    ),
    check(
      'voucher receivers: none was created twice, and none for a rejected sale',
      [
        ...countByKey(
          persons.flatMap(({ email }) => /^ann@(.*)\.test$/.exec(email)?.[1] ?? []),
          key => key,
        ),
      ].flatMap(([key, count]) =>
        count === 1 &&
        history.operations.some(
          operation => operation.key === key && (isAcknowledged(operation) || isAbandoned(operation)),
        )
          ? []
          : [`${key}: ${count}`],
      ),
    ),
    check(
      'each order in the ledger of the back office came with one request',
      orders
        .filter(order => isShopperKey(keyOfOrder(order)) && orderEffects.get(String(order.id))?.request == null)
        .map(({ number }) => number),
    ),
    checkSame(
      'customers',
      'customer',
      new Map(persons.map(({ id, email }) => [email.split('@')[0] ?? '', id])),
      await readFromTables(sql`
        select split_part(email, '@', 1) as key, id as record from customer where service_id = ${serviceId} and email like '%@shopper.test'`),
      hasId,
    ),
    checkSame(
      'orders',
      'order',
      new Map(orders.map(order => [keyOfOrder(order), `${order.id}: ${formatLines(order.lines)}`])),
      await readFromTables(sql`
        select billing_address->>'addressLine2' as key, o.id || ': ' || string_agg(sku_id || ' x ' || quantity, ',' order by sku_id || ' x ' || quantity) as record
          from sales_order o join order_line l on l.service_id = o.service_id and l.order_id = o.id
         where o.service_id = ${serviceId} and billing_address->>'addressLine2' is not null group by 1, o.id`),
      hasId,
    ),
    checkSame(
      'returns',
      'return',
      new Map(returns.map(record => [keyOfReturn(record), `${record.orderId}: ${formatLines(record.lines)}`])),
      await readFromTables(sql`
        select notes as key, r.order_id || ': ' || string_agg(sku_id || ' x ' || r.quantity, ',') as record
          from return_line r join order_line l on l.service_id = r.service_id and l.order_id = r.order_id and l.sequence = r.order_sequence
         where r.service_id = ${serviceId} and notes is not null group by 1, r.order_id`),
      ({ target }, orderId) => target === orderId,
    ),
    check(
      'orders: all that were ever created at the back office are in our tables, and no others',
      compareKeys(
        [...orderEffects.keys()].map(String),
        await readColumn(sql`
          select id as value from sales_order where service_id = ${serviceId}
          union all select order_id from upstream_voucher_sale where service_id = ${serviceId} and order_id is not null`),
      ),
      orderEffects.size,
    ),
    check(
      'returns: all that were ever created at the back office are in our tables, and no others',
      await compareCounts(db, serviceId, ledger.findEffects('return created').length),
    ),
    ...checkChanges(state, history),
  ]
}

async function compareCounts(db: Db, serviceId: number, upstreamCount: number): Promise<string[]> {
  const ownCount = await db.run(sql`select from sales_return where service_id = ${serviceId}`)
  return ownCount === upstreamCount ? [] : [`${ownCount} in our tables, ${upstreamCount} at the back office`]
}

/** Changes of customers by clients. */
function checkChanges({ persons }: Simulator['state'], history: History): CheckResult[] {
  const lastChanges = new Map(history.acknowledged('change').map(({ target, value }) => [target, value]))
  const rejected = new Set(
    history
      .of('change')
      .filter(change => !isAcknowledged(change))
      .map(({ value }) => value),
  )
  return [
    check(
      'changes: each customer has the last acknowledged value',
      [...lastChanges].flatMap(([id, value]) => {
        const work = persons.get(Number(id))?.work
        return work === value ? [] : [`${id} has ${work}, not ${value}`]
      }),
      lastChanges.size,
    ),
    check(
      'changes: no rejected value was stored',
      [...persons.values()].filter(({ work }) => rejected.has(work)).map(({ id }) => String(id)),
    ),
  ]
}

/** Checks that no client's change has undone a change by back-office staff. */
export const checkStaffChanges = ({ persons }: Simulator['state'], { titles }: StaffWork): CheckResult =>
  check(
    'changes: none undid a change by back-office staff',
    [...titles].flatMap(([id, fields]) => {
      const person = persons.get(id)
      return person?.title.trim() === fields.title && person.home.trim() === fields.home
        ? []
        : [`${id}: ${person?.title} ${person?.home}`]
    }),
    titles.size,
  )

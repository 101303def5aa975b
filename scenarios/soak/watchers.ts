import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../src/database/db.ts'
import { type Verdict, verdict } from '../support/verdict.ts'
import type { Client } from './client.ts'
import { shops, stockOf } from './expected.ts'
import type { WorldBehind } from './world.ts'

/**
 * Looks all the time whether a pull takes away what the back office still has: a customer, a SKU that was never withdrawn, stock that
 * never moved. A later pull would mend it, and the lists of the end would not tell.
 */
export async function watch({ simulator, db, service }: WorldBehind, isOver: () => boolean): Promise<Verdict> {
  const began = simulator.clock.wall()
  const seen = new Set<string>()
  const lost = new Set<string>()
  /** What must not go once it is here. */
  function lasting(): Set<string> {
    const { state, ledger } = simulator
    const withdrawn = ledger.effectsOf('product changed').filter(({ facts }) => facts.exported === false)
    const styles = new Set(withdrawn.map(({ id }) => Number(id)))
    const skus = [...state.styles.values()]
      .filter(({ id, special }) => !styles.has(id) && !special)
      .flatMap(({ colours }) => colours.flatMap(colour => colour.skus))
    const moved = new Set(
      shops(state).flatMap(({ id, column }) =>
        [...state.stock.changes(column)].flatMap(({ row, when }) => (when > began - 3_600_000 ? [`${id} ${row}`] : [])),
      ),
    )
    const stock = stockOf(state)
    const still = skus.flatMap(({ id, row }) =>
      shops(state).flatMap(store => {
        const quantity = stock.get(`${store.id}-${id}`) ?? 0
        return quantity > 0 && !moved.has(`${store.id} ${row}`) ? [`stock ${store.id} ${id} ${quantity}`] : []
      }),
    )
    return new Set([
      ...[...state.persons.keys()].map(id => `customer ${id}`),
      ...skus.map(({ id }) => `SKU ${id}`),
      ...still,
    ])
  }
  while (!isOver()) {
    const due = lasting()
    const rows = await db.rows<{ key: string }>(sql`
      select 'customer ' || id as key from customer where service_id = ${service.id}
      union all select 'SKU ' || sku_id from variant where service_id = ${service.id}
      union all select format('stock %s %s %s', store_id, sku_id, free_stock) from stock where service_id = ${service.id}`)
    const here = new Set(rows.map(({ key }) => key))
    const stillDue = lasting()
    for (const key of seen) if (due.has(key) && stillDue.has(key) && !here.has(key)) lost.add(key)
    for (const key of here) if (due.has(key)) seen.add(key)
    await delay(150)
  }
  return verdict('no pull ever took away what the back office still had', [...lost], seen.size)
}

/** A client that follows a list by `asOf`: in the end it has what the list has. */
export async function follow(client: Client, path: string, isOver: () => boolean): Promise<Verdict> {
  const known = new Map<string, string>()
  let asOf = ''
  for (let isLast = false; !isLast; ) {
    isLast = isOver()
    const since = asOf && `&updated_after=${encodeURIComponent(asOf)}`
    const page = await client.list<{ id: string }>(`${path}?limit=100${since}`)
    for (const record of page.records) known.set(record.id, JSON.stringify(record))
    asOf = page.asOf
    await delay(200)
  }
  const { records } = await client.list<{ id: string }>(`${path}?limit=100`)
  const wrong = records.filter(record => known.get(record.id) !== JSON.stringify(record)).map(({ id }) => id)
  return verdict(`who follows ${path} by asOf has what it has`, wrong, records.length)
}

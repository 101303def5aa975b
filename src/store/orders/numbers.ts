import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** The numbers that are made here, and where those that are taken stand. */
const kinds = {
  order: { letter: 'W', table: raw('sales_order'), column: raw('order_number') },
  return: { letter: 'R', table: raw('sales_return'), column: raw('return_number') },
} as const

/** A number of the form that is made here; its digits apart. */
const formOf = (kind: keyof typeof kinds) => `^${kinds[kind].letter}(\\d{7,9})$`

/** Makes the next number of a kind that callers, who give numbers of this form as well, have left free: it is this transaction's until it ends. */
export async function nextNumber(tx: Db, service: Service, kind: keyof typeof kinds): Promise<Made> {
  for (;;) {
    const made = (await advance(tx, service, kind)) ?? (await begin(tx, service, kind))
    if (!made.isTaken) return made
    await pass(tx, service, kind, made)
  }
}

/**
 * Has a number that was made taken, as `W0000001` or `R0000001`: `take` answers undefined where somebody has given it since, and is asked
 * again with the next one.
 */
export async function takeNumber<T>(
  tx: Db,
  service: Service,
  kind: keyof typeof kinds,
  made: Made,
  take: (number: string) => Promise<T | undefined>,
): Promise<T> {
  for (let { last } = made; ; { last } = await nextNumber(tx, service, kind)) {
    const taken = await take(kinds[kind].letter + last.padStart(7, '0'))
    if (taken !== undefined) return taken
  }
}

/** A number that somebody has: as a condition on the text of its digits. */
const isTaken = (service: Service, kind: keyof typeof kinds, digits: Sql) => {
  const { letter, table, column } = kinds[kind]
  return sql`exists (
    select from ${table} where service_id = ${service.id} and ${column} = ${letter}::text || lpad(${digits}, greatest(7, length(${digits})), '0'))`
}

/** Has a stream go on before the next one of its numbers that is free. */
const pass = (tx: Db, service: Service, kind: keyof typeof kinds, { stream, last }: Made) =>
  tx.run(sql`
    update order_counter set last_number = free.number - ${streams}
      from (select number from generate_series(${last}::bigint + ${streams}, ${last}::bigint + ${farthest}, ${streams}) number
             where not ${isTaken(service, kind, sql`number::text`)}
             order by number limit 1) free
     where service_id = ${service.id} and kind = ${kind} and stream = ${stream}`)

/**
 * How many numbers of a kind may be in the making at once: nobody waits for the commit of an order before. Each has a stream of its own,
 * every 32nd number, and of those that are free the lowest is taken: without company numbers are made one after the other.
 */
const streams = 32

/** How far it is looked at once for a free number, as PostgreSQL makes all of a series before it looks at the first of it. */
const farthest = 100_000 * streams

/** A number, the stream that it is of, and whether somebody has it already. */
interface Made {
  stream: number
  last: string
  isTaken: boolean
}

/** Takes a number until the transaction ends. Where all streams are taken one of them is waited for; undefined: there is none yet. */
async function advance(tx: Db, service: Service, kind: keyof typeof kinds) {
  const lowestOf = (wait: Sql) =>
    tx.row<Made>(sql`
      update order_counter set last_number = last_number + ${streams}
       where service_id = ${service.id} and kind = ${kind}
         and stream = (select stream from order_counter where service_id = ${service.id} and kind = ${kind} order by last_number limit 1 for update ${wait})
      returning stream, last_number::text as last, ${isTaken(service, kind, sql`last_number::text`)} as "isTaken"`)
  return (await lowestOf(sql`skip locked`)) ?? lowestOf(sql``)
}

/** The first number of a service follows on the orders that were imported, and on those that are known from its newest sales. */
async function begin(tx: Db, service: Service, kind: keyof typeof kinds) {
  const form = formOf(kind)
  await tx.run(sql`
    insert into order_counter (service_id, kind, stream, last_number)
    select ${service.id}, ${kind}, stream, highest + stream - ${streams}
      from (select coalesce(max(number), 0) as highest
              from (select substring(record::json->>'orderNumber' from ${form})::bigint as number
                      from (select record from retail_transaction where service_id = ${service.id} order by sale_date desc, id desc limit 10000) newest
                    union all
                    select substring(order_number from ${form})::bigint from sales_order where service_id = ${service.id} and imported_at is not null) known) told
     cross join generate_series(1, ${streams}) stream
    on conflict (service_id, kind, stream) do nothing`)
  const first = await advance(tx, service, kind)
  if (!first) throw new Error('whose streams were begun has streams')
  return first
}

/** Lets the next order that is made follow on these, where numbers were made before. */
export async function passOver(tx: Db, service: Service, numbers: readonly string[]) {
  const form = new RegExp(formOf('order'))
  const highest = numbers.reduce((most, number) => Math.max(most, Number(form.exec(number)?.[1] ?? 0)), 0)
  await tx.run(sql`
    update order_counter set last_number = last_number + ${streams} * ceil((${highest}::bigint + 1 - ${streams} - last_number) / ${streams}::numeric)::bigint
     where service_id = ${service.id} and kind = 'order' and last_number + ${streams} <= ${highest}`)
}

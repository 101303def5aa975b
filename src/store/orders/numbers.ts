import { type Db, raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** The generated numbers, and the column with the numbers in use. */
const kinds = {
  order: { letter: 'W', table: raw('sales_order'), column: raw('order_number') },
  return: { letter: 'R', table: raw('sales_return'), column: raw('return_number') },
} as const

/** Pattern of a generated number. Its group contains the digits. */
const getPattern = (kind: keyof typeof kinds) => `^${kinds[kind].letter}(\\d{7,9})$`

/** Reserves the next free number until the transaction ends. Skips numbers of this pattern that clients have used. */
export async function reserveNumber(tx: Db, service: Service, kind: keyof typeof kinds): Promise<ReservedNumber> {
  for (;;) {
    const reserved = (await advance(tx, service, kind)) ?? (await createStreams(tx, service, kind))
    if (!reserved.isTaken) return reserved
    await skipUsed(tx, service, kind, reserved)
  }
}

/**
 * Formats a reserved number such as `W0000001` or `R0000001` and calls `take` with it. `take` must return undefined if the number is in
 * use by now: it is then called with the next number.
 */
export async function useNumber<T>(
  tx: Db,
  service: Service,
  kind: keyof typeof kinds,
  reserved: ReservedNumber,
  take: (number: string) => Promise<T | undefined>,
): Promise<T> {
  for (let { last } = reserved; ; { last } = await reserveNumber(tx, service, kind)) {
    const result = await take(kinds[kind].letter + last.padStart(7, '0'))
    if (result !== undefined) return result
  }
}

/** True if the number with these digits is in use. */
const isTaken = (service: Service, kind: keyof typeof kinds, digits: Sql) => {
  const { letter, table, column } = kinds[kind]
  return sql`exists (
    select from ${table} where service_id = ${service.id} and ${column} = ${letter}::text || lpad(${digits}, greatest(7, length(${digits})), '0'))`
}

/** Moves a stream to before its next free number. */
const skipUsed = (tx: Db, service: Service, kind: keyof typeof kinds, { stream, last }: ReservedNumber) =>
  tx.run(sql`
    update order_counter set last_number = free.number - ${streams}
      from (select number from generate_series(${last}::bigint + ${streams}, ${last}::bigint + ${searchRange}, ${streams}) number
             where not ${isTaken(service, kind, sql`number::text`)}
             order by number limit 1) free
     where service_id = ${service.id} and kind = ${kind} and stream = ${stream}`)

/**
 * Numbers of a kind that can be reserved concurrently, so that no transaction waits for the commit of another one. Each stream has every
 * 32nd number. The free stream with the lowest number is used, so numbers are consecutive without concurrency.
 */
const streams = 32

/** Range of one search for a free number, because PostgreSQL generates a complete series before it reads the first row. */
const searchRange = 100_000 * streams

/** A reserved number and its stream. */
interface ReservedNumber {
  stream: number
  last: string
  isTaken: boolean
}

/**
 * Reserves a number until the transaction ends. Waits for a stream if all are reserved. Returns undefined if the service has no streams
 * yet.
 */
async function advance(tx: Db, service: Service, kind: keyof typeof kinds) {
  const reserveLowest = (wait: Sql) =>
    tx.row<ReservedNumber>(sql`
      update order_counter set last_number = last_number + ${streams}
       where service_id = ${service.id} and kind = ${kind}
         and stream = (select stream from order_counter where service_id = ${service.id} and kind = ${kind} order by last_number limit 1 for update ${wait})
      returning stream, last_number::text as last, ${isTaken(service, kind, sql`last_number::text`)} as "isTaken"`)
  return (await reserveLowest(sql`skip locked`)) ?? reserveLowest(sql``)
}

/** Creates the streams. The first number follows the highest number of imported orders and of the newest sales. */
async function createStreams(tx: Db, service: Service, kind: keyof typeof kinds) {
  const pattern = getPattern(kind)
  await tx.run(sql`
    insert into order_counter (service_id, kind, stream, last_number)
    select ${service.id}, ${kind}, stream, highest + stream - ${streams}
      from (select coalesce(max(number), 0) as highest
              from (select substring(record::json->>'orderNumber' from ${pattern})::bigint as number
                      from (select record from retail_transaction where service_id = ${service.id} order by sale_date desc, id desc limit 10000) newest
                    union all
                    select substring(order_number from ${pattern})::bigint from sales_order where service_id = ${service.id} and imported_at is not null) newest_numbers) all_numbers
     cross join generate_series(1, ${streams}) stream
    on conflict (service_id, kind, stream) do nothing`)
  const first = await advance(tx, service, kind)
  if (!first) throw new Error('order_counter has no stream after its creation')
  return first
}

/** Makes the next generated number follow these numbers. Does nothing if the service has no streams yet. */
export async function skipNumbers(tx: Db, service: Service, numbers: readonly string[]) {
  const pattern = new RegExp(getPattern('order'))
  const highest = numbers.reduce((max, number) => Math.max(max, Number(pattern.exec(number)?.[1] ?? 0)), 0)
  await tx.run(sql`
    update order_counter set last_number = last_number + ${streams} * ceil((${highest}::bigint + 1 - ${streams} - last_number) / ${streams}::numeric)::bigint
     where service_id = ${service.id} and kind = 'order' and last_number + ${streams} <= ${highest}`)
}

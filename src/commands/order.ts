import { Argument } from 'commander'
import { advancePickup, cancelOrder, shipOrder } from '../backoffice/embedded/fulfilment.ts'
import { advanceReturn } from '../backoffice/embedded/returns.ts'
import type { Db } from '../database/db.ts'
import { retryOnContention } from '../database/pg/contention.ts'
import type { OrderLineSelection } from '../domain/orders/orders.ts'
import type { Tracking } from '../domain/orders/shipments.ts'
import { isWebAddress } from '../domain/orders/tracking.ts'
import { type ReturnAction, returnActions } from '../domain/orders/transitions.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { commandWriter, recordCommand } from './terminal/audit.ts'
import { type Command, serviceOption } from './terminal/command.ts'
import { requireEmbeddedBackOffice } from './terminal/require-embedded.ts'
import { withDatabase } from './terminal/session.ts'

export function buildOrderCommand(program: Command) {
  const order = program
    .command('order')
    .description('Ship, cancel and return orders (embedded back office)')
    .examples(
      ['order ship W0000123 --service luma', 'ships an order, if `fulfilment` is manual'],
      ['order cancel W0000123 --service luma', 'cancels it'],
      ['order return R0000001 receive --service luma', 'marks a returned parcel as received'],
    )

  order
    .command('ship')
    .argument('<orderNumber>')
    .description('Ship open lines of an order')
    .option(...serviceOption)
    .option(...linesOption)
    .option('--store <number>', 'the store that ships them')
    .option('--carrier <name>', 'the carrier of the shipment')
    .option('--tracking-number <number>', 'its tracking number')
    .option('--tracking-url <url>', 'the page that tracks it')
    .examples(
      ['order ship W0000123 --service luma', 'ships it and records the sale'],
      ['order ship W0000123 --carrier "Australia Post" --tracking-number 33ABC1234567', 'ships it with tracking'],
      ['order ship W0000123 --lines 1:2 3', 'ships two units of line 1, and line 3'],
    )
    .action((number: string, { service, lines, store, ...tracking }: LineOptions & { store?: string } & Tracking) =>
      runInTransaction(service, async (tx, owner) => {
        const input = { ...checkTracking(tracking), lines: parseLines(lines), storeNumber: store ?? null }
        const { order: shipped } = await shipOrder(tx, owner, { number }, input)
        await recordCommand(tx, owner, { operation: 'order ship', subject: `/orders/${shipped.id}` })
        return formatResult(number, lines, 'shipped')
      }),
    )

  order
    .command('cancel')
    .argument('<orderNumber>')
    .description('Cancel open lines of an order')
    .option(...serviceOption)
    .option(...linesOption)
    .examples(
      ['order cancel W0000123 --service luma', 'cancels it; stock and voucher payments are returned'],
      ['order cancel W0000123 --lines 1:2', 'cancels two units of line 1'],
    )
    .action((number: string, { service, lines }: LineOptions) =>
      runInTransaction(service, async (tx, owner) => {
        const { order: cancelled } = await cancelOrder(
          tx,
          owner,
          { number },
          { lines: parseLines(lines) },
          commandWriter,
        )
        await recordCommand(tx, owner, { operation: 'order cancel', subject: `/orders/${cancelled.id}` })
        return formatResult(number, lines, 'cancelled')
      }),
    )

  for (const [name, action, description] of [
    ['ready', 'ready', 'Mark an order as ready for collection'],
    ['collected', 'collect', 'Mark an order as collected, and ship its open units'],
  ] as const)
    order
      .command(name)
      .argument('<orderNumber>')
      .description(description)
      .option(...serviceOption)
      .examples([`order ${name} W0000123 --service luma`, 'the order must have a pick-up store'])
      .action((number: string, { service }: { service?: string }) =>
        runInTransaction(service, async (tx, owner) => {
          const { id } = await advancePickup(tx, owner, { number }, action)
          await recordCommand(tx, owner, { operation: `order ${name}`, subject: `/orders/${id}` })
          return `Order ${number} is ${name}.`
        }),
      )

  order
    .command('return')
    .argument('<returnNumber>')
    .addArgument(new Argument('<step>', 'the next step').choices(Object.keys(returnActions)))
    .description('Advance or cancel a return')
    .option(...serviceOption)
    .examples(
      ['order return R0000001 receive --service luma', 'marks the parcel as received'],
      ['order return R0000001 refund --service luma', 'marks it as refunded and refunds vouchers'],
      ['order return R0000001 cancel --service luma', 'cancels the return; the lines can be returned again'],
    )
    .action((number: string, step: ReturnAction, { service }: { service?: string }) =>
      runInTransaction(service, async (tx, owner) => {
        const { id, refund } = await advanceReturn(tx, owner, { number }, step, {}, commandWriter)
        await recordCommand(tx, owner, { operation: `order return ${step}`, subject: `/returns/${id}` })
        const vouchers = (refund?.vouchers ?? []).map(
          ({ number: voucherNumber, amount }) => ` ${amount} refunded to voucher ${voucherNumber}.`,
        )
        return `Return ${number} is ${returnActions[step]}.${vouchers.join('')}`
      }),
    )
}

interface LineOptions {
  service?: string
  lines?: string[]
}

const linesOption = ['--lines <lines...>', 'lines with units, such as `1:2 3`. Default: all open units'] as const

const formatResult = (number: string, lines: readonly string[] | undefined, status: string) =>
  lines ? `Lines ${lines.join(', ')} of order ${number} ${status}.` : `Order ${number} ${status}.`

/** Parses lines such as `1:2` (two units of line 1). Throws if one is malformed. */
const parseLines = (lines: readonly string[] | undefined): OrderLineSelection | null =>
  lines?.map(text => {
    const { line, units } = /^(?<line>\d{1,9})(?::(?<units>[1-9]\d{0,3}))?$/.exec(text)?.groups ?? {}
    if (line === undefined)
      throw new Error(`--lines must be lines such as 1, or 1:2 for two units; ${text} is neither.`)
    return { orderLineId: line, quantity: units ? Number(units) : null }
  }) ?? null

/** Checks the options of `order ship`. Throws if one is too long, or the URL is no web address. */
function checkTracking(tracking: Tracking): Tracking {
  for (const [name, value] of Object.entries(tracking) as [keyof Tracking, string][])
    if (!value.trim() || value.length > (name === 'trackingUrl' ? 500 : 100))
      throw new Error(`--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)} is empty or too long.`)
  const { trackingUrl } = tracking
  if (typeof trackingUrl === 'string' && !isWebAddress(trackingUrl))
    throw new Error('--tracking-url must be a web address such as https://track.example.com/33ABC1234567.')
  return tracking
}

/** Runs `work` in one transaction, again after a deadlock, and prints its result. */
const runInTransaction = (name: string | undefined, work: (tx: Db, service: Service) => Promise<string>) =>
  withDatabase(async ({ keys, services }) => {
    const located = await services.find(name)
    await requireEmbeddedBackOffice({ keys }, located, 'Orders', 'manage them there')
    console.log(await retryOnContention(() => located.db.transaction(tx => work(tx, located.service))))
  })

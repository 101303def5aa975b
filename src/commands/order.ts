import { Argument, type Command } from 'commander'
import { cancelOrder, shipOrder } from '../backoffice/embedded/fulfilment.ts'
import { stepReturn } from '../backoffice/embedded/returns.ts'
import type { Db } from '../database/db.ts'
import { type ReturnStep, returnSteps } from '../domain/orders/returns.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { leaveCommandLine } from './terminal/audit.ts'
import { examples } from './terminal/examples.ts'
import { requireOwnTables } from './terminal/require-embedded.ts'
import { serviceOption } from './terminal/service-option.ts'
import { withDatabase } from './terminal/session.ts'

export function orderCommand(program: Command) {
  const order = program
    .command('order')
    .description('Orders and returns of the embedded back office: what happens in its warehouse.')
    .addHelpText(
      'after',
      examples(
        ['order ship W0000123 --service luma', 'send an order, where the setting fulfilment is manually'],
        ['order cancel W0000123 --service luma', 'or call it off'],
        ['order return R0000001 receive --service luma', 'take in a parcel that came back'],
      ),
    )

  order
    .command('ship')
    .argument('<orderNumber>')
    .description('Ship what of an order is processing: it is sold, and stands in the retail history.')
    .option(...serviceOption)
    .addHelpText('after', examples(['order ship W0000123 --service luma', 'send it']))
    .action((number: string, { service }: { service?: string }) =>
      within(service, async (tx, of) => {
        const { id } = await shipOrder(tx, of, number)
        await leaveCommandLine(tx, of, { operation: 'order ship', subject: `/orders/${id}` })
        return `Shipped the order ${number}.`
      }),
    )

  order
    .command('cancel')
    .argument('<orderNumber>')
    .description('Cancel what of an order is processing: its stock comes back, and so does what its vouchers paid.')
    .option(...serviceOption)
    .addHelpText('after', examples(['order cancel W0000123 --service luma', 'call it off']))
    .action((number: string, { service }: { service?: string }) =>
      within(service, async (tx, of) => {
        const { id } = await cancelOrder(tx, of, number)
        await leaveCommandLine(tx, of, { operation: 'order cancel', subject: `/orders/${id}` })
        return `Cancelled the order ${number}.`
      }),
    )

  order
    .command('return')
    .argument('<returnNumber>')
    .addArgument(new Argument('<step>', 'what happens to it').choices(Object.keys(returnSteps)))
    .description('Take a return further: requested, received, refunded. A cancelled one can be returned anew.')
    .option(...serviceOption)
    .addHelpText(
      'after',
      examples(
        ['order return R0000001 receive --service luma', 'the parcel is here'],
        [
          'order return R0000001 refund --service luma',
          'the shopper has the money; vouchers that paid are given theirs',
        ],
        ['order return R0000001 cancel --service luma', 'the shopper keeps the goods'],
      ),
    )
    .action((number: string, step: ReturnStep, { service }: { service?: string }) =>
      within(service, async (tx, of) => {
        const { id, givenBack } = await stepReturn(tx, of, number, step)
        await leaveCommandLine(tx, of, { operation: `order return ${step}`, subject: `/returns/${id}` })
        const vouchers = givenBack.map(voucher => ` ${voucher.amount} went back to the voucher ${voucher.number}.`)
        return `The return ${number} is ${returnSteps[step]}.${vouchers.join('')}`
      }),
    )
}

/** Does something in one transaction, and then says what it was. */
const within = (name: string | undefined, work: (tx: Db, service: Service) => Promise<string>) =>
  withDatabase(async ({ keys, services }) => {
    const placed = await services.find(name)
    await requireOwnTables({ keys }, placed, 'Orders', 'what happens to them happens there')
    console.log(await placed.db.transaction(tx => work(tx, placed.service)))
  })

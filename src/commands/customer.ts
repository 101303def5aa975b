import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { openBackOffices } from '../backoffice/back-offices.ts'
import { backOfficeSettings, readConfig } from '../config/config.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { writeAtomically } from '../files/atomic-write.ts'
import type { Installation } from '../runtime/installation/installation.ts'
import { emptyPlacesOf } from '../store/privacy/erase-batch.ts'
import { personalData } from '../store/privacy/export.ts'
import { type Summary, summaryOf } from '../store/privacy/summary.ts'
import { inSteps } from '../writes/stages.ts'
import { leaveCommandLine } from './terminal/audit.ts'
import { isTyped } from './terminal/confirmation.ts'
import { examples } from './terminal/examples.ts'
import { notWritten, toStandardOutput } from './terminal/outgoing-file.ts'
import { quietLog } from './terminal/quiet-log.ts'
import { serviceOption } from './terminal/service-option.ts'
import { withDatabase } from './terminal/session.ts'

export function customerCommand(program: Command) {
  const customer = program
    .command('customer')
    .description('What is kept of a customer: handing it out, and erasing it.')
    .addHelpText(
      'after',
      examples(
        ['customer export 65432 --service luma --out 65432.json', 'for the person who asks what is kept'],
        ['customer erase 65432 --service luma', 'for the person who wants to be forgotten'],
      ),
    )

  customer
    .command('export')
    .argument('<id>')
    .description('Everything that is kept of a customer, as one JSON document.')
    .option(...serviceOption)
    .option('--out <file>', 'where to; to standard output, if not given')
    .addHelpText('after', examples(['customer export 65432 --out 65432.json', 'a file that only you can read']))
    .action((id: string, { service: name, out }: { service?: string; out?: string }) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        const found = await personalData(db, service, id)
        if (!found) throw noCustomer(id)
        const text = `${JSON.stringify(JSON.parse(found.record), undefined, 2)}\n`
        if (out === undefined) await toStandardOutput(text)
        else {
          await writeAtomically(out, draft => writeFile(draft, text, { mode: 0o600 })).catch(notWritten(out))
          console.log(`Written to ${out}.`)
        }
      }),
    )

  customer
    .command('erase')
    .argument('<id>')
    .description('Erase a customer for good: sums of orders, sales and vouchers stay, and no person.')
    .option(...serviceOption)
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      examples(
        ['customer erase 65432 --service luma', 'asks for the identifier once more'],
        ['customer erase 65432 --service luma --yes', 'for scripts'],
      ),
    )
    .action((id: string, { service: name, yes = false }: { service?: string; yes?: boolean }) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const summary = await summaryOf(db, service, id)
        if (summary && !yes) await confirmed(id, summary)
        await erased({ db, keys }, service, id)
        console.log(`Erased the customer ${id}.`)
      }),
    )
}

const noCustomer = (id: string) => new Error(`Customer ${id} not found.`)

/** Throws unless the identifier is typed once more. */
async function confirmed(id: string, { name, orders, waiting, sales }: Summary) {
  const shown = [`${orders} orders`, ...(waiting ? [`${waiting} of them not shipped yet`] : []), `${sales} sales`]
  process.stderr.write(`${name ?? 'Somebody who has left'}: ${shown.join(', ')}. This cannot be undone.\n`)
  if (!(await isTyped(id, 'To erase this customer'))) throw new Error('Nothing was erased.')
}

/** Does at once what a service does in a job. */
async function erased({ db, keys }: Pick<Installation, 'db' | 'keys'>, service: Service, id: string) {
  const offices = await openBackOffices({ db, keys, defaults: backOfficeSettings(readConfig()), log: quietLog() })
  try {
    const office = offices.of(service)
    await inSteps({ db, keys }, service, async steps => {
      const finish = await office.eraseCustomer({ ...steps, service, requireMatch() {} }, id)
      return async tx => {
        if (!(await finish(tx))) throw noCustomer(id)
        const subject = `/customers/${encodeURIComponent(id)}`
        await leaveCommandLine(tx, service, { operation: 'customer erase', subject })
      }
    })
    await emptyPlacesOf(db, keys, service, id)
  } finally {
    offices.close()
  }
}

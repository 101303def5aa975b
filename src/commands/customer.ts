import { writeFile } from 'node:fs/promises'
import { readConfig } from '../config/config.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { countNoun } from '../domain/values/nouns.ts'
import { writeAtomically } from '../files/atomic-write.ts'
import { openConfiguredBackOffices } from '../runtime/app.ts'
import type { Installation } from '../runtime/installation/installation.ts'
import { eraseRemainingData } from '../store/privacy/erase-batch.ts'
import { findErasureSummary, type Summary } from '../store/privacy/erasure.ts'
import { exportPersonalData } from '../store/privacy/export.ts'
import { runInStages } from '../writes/stages.ts'
import { recordCommand } from './terminal/audit.ts'
import { type Command, serviceOption } from './terminal/command.ts'
import { confirmByTyping } from './terminal/confirmation.ts'
import { rethrowWriteError, writeToStandardOutput } from './terminal/outgoing-file.ts'
import { createQuietLog, withDatabase } from './terminal/session.ts'

export function buildCustomerCommand(program: Command) {
  const customer = program
    .command('customer')
    .description("Export or erase a customer's personal data")
    .examples(
      ['customer export 65432 --service luma --out 65432.json', 'exports it for an access request'],
      ['customer erase 65432 --service luma', 'erases it for an erasure request'],
    )

  customer
    .command('export')
    .argument('<id>')
    .description("Export a customer's data as one JSON document")
    .option(...serviceOption)
    .option('--out <file>', 'output file (default: standard output)')
    .examples(['customer export 65432 --out 65432.json', 'writes a file that only you can read'])
    .action((id: string, { service: name, out }: { service?: string; out?: string }) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        const data = await exportPersonalData(db, service, id)
        if (!data) throw customerNotFound(id)
        const text = `${JSON.stringify(JSON.parse(data.record), undefined, 2)}\n`
        if (out === undefined) await writeToStandardOutput(text)
        else {
          await writeAtomically(out, draft => writeFile(draft, text, { mode: 0o600 })).catch(rethrowWriteError(out))
          console.log(`Written to ${out}.`)
        }
      }),
    )

  customer
    .command('erase')
    .argument('<id>')
    .description("Permanently erase a customer's personal data")
    .option(...serviceOption)
    .option('--yes', 'skip the confirmation')
    .examples(
      ['customer erase 65432 --service luma', 'asks for the identifier again; order, sales and voucher totals stay'],
      ['customer erase 65432 --service luma --yes', 'for scripts'],
    )
    .action((id: string, { service: name, yes = false }: { service?: string; yes?: boolean }) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const summary = await findErasureSummary(db, service, id)
        if (summary && !yes) await requireConfirmation(id, summary)
        await eraseCustomer({ db, keys }, service, id)
        console.log(`Customer ${id} erased.`)
      }),
    )
}

const customerNotFound = (id: string) => new Error(`Customer ${id} not found.`)

/** Asks the operator to type the identifier. Throws if it isn't typed. */
async function requireConfirmation(id: string, { name, orders, waiting, sales }: Summary) {
  const counts = [
    countNoun(orders, 'order'),
    ...(waiting ? [`${waiting} of them not shipped`] : []),
    countNoun(sales, 'sale'),
  ]
  process.stderr.write(`${name ?? 'Customer without a name'}: ${counts.join(', ')}. This can't be undone.\n`)
  if (!(await confirmByTyping(id, 'To erase this customer'))) throw new Error('Not confirmed. Nothing was erased.')
}

/** Erases a customer in every system now, instead of in a job. Throws if the customer doesn't exist. */
async function eraseCustomer({ db, keys }: Pick<Installation, 'db' | 'keys'>, service: Service, id: string) {
  const offices = await openConfiguredBackOffices(readConfig(), keys, db, createQuietLog())
  try {
    const office = offices.get(service)
    await runInStages({ db, keys }, service, async stages => {
      const finish = await office.eraseCustomer({ ...stages, service, requireMatch() {} }, id)
      return async tx => {
        if (!(await finish(tx))) throw customerNotFound(id)
        const subject = `/customers/${encodeURIComponent(id)}`
        await recordCommand(tx, service, { operation: 'customer erase', subject })
      }
    })
    await eraseRemainingData(db, keys, service, id)
  } finally {
    offices.close()
  }
}

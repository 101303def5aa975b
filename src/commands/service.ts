import { recordRestore } from '../backup/history.ts'
import type { Db } from '../database/db.ts'
import { listChanges } from '../domain/audit.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import {
  checkCurrencyChange,
  checkDefaultReason,
  checkMappedReferences,
  getDefault,
  type SettingsChange,
} from '../domain/tenancy/settings-rules.ts'
import { throwIfAny } from '../errors/throw-if-any.ts'
import { findMappedReferences } from '../store/catalog/references.ts'
import { insertService, unregisterService } from '../store/shards/shards.ts'
import { addService, listAllServices, listDeleting, listServices } from '../store/tenancy/services.ts'
import { changeSettings, findCurrencyEffect, readSettings } from '../store/tenancy/settings.ts'
import { buildMoveCommand } from './service-move.ts'
import { buildRemoveCommand } from './service-remove.ts'
import { buildRestoreServiceCommand } from './service-restore.ts'
import { describeSettings, formatValue, readAssignments } from './setting-assignments.ts'
import { recordCommand } from './terminal/audit.ts'
import { type Command, formatExamples } from './terminal/command.ts'
import { describeDeletion, queryAllDatabases, type Session, withDatabase } from './terminal/session.ts'
import { formatTable } from './terminal/table.ts'
import { requireName } from './terminal/validate-input.ts'

export function buildServiceCommand(program: Command) {
  const service = program
    .command('service')
    .description('Manage services (tenants)')
    .examples(
      ['service add luma currency=AUD', 'creates a service'],
      ['service add luma --shard eu-2', 'creates one in a shard'],
      ['service set luma backOfficeVersion=2021.3', 'changes a setting'],
      ['service show luma', 'shows all settings'],
      ['service list', 'lists all services'],
      ['service move luma --to eu-2', 'moves one to a shard without downtime'],
      ['service restore luma now.tillbridge', 'replaces its data with that of a backup'],
      ['service remove luma', 'permanently deletes one'],
    )
  const width = Math.max(...describeSettings().map(({ name }) => name.length))
  const settingsHelp = `\nSettings:\n${describeSettings()
    .map(({ name, description, byDefault }) => `  ${name.padEnd(width)} ${description} Default: ${byDefault}.`)
    .join('\n')}\n\nsetting=default resets a setting. Write lists and objects as JSON; lists of names can be a,b,c.\n`

  service
    .command('add')
    .argument('<name>', 'the value of the X-Service-Name header')
    .argument('[setting=value...]')
    .option('--shard <name>', 'the shard for the service (default: the control database)')
    .description('Create a service')
    .addHelpText(
      'after',
      settingsHelp +
        formatExamples([
          'service add luma currency=AUD timeZone=Australia/Melbourne',
          'creates a service for an Australian retailer',
        ]),
    )
    .action((name: string, assignments: string[], { shard }: { shard?: string }) => {
      requireName('service', name)
      const settings = readAssignments(assignments)
      const createService = async (session: Session) => {
        const initialize = (tx: Db, owner: Service) => applySettings(tx, owner, settings, 'service add')
        if (shard === undefined)
          await session.control.transaction(async tx => {
            const added = await addService(tx, name)
            if (!added) throw new Error(await describeTakenName(tx, name))
            await initialize(tx, added)
          })
        else await createInShard(session, name, shard, initialize)
        console.log(`Service ${name} created. Next: tillbridge account add <username> --service ${name}`)
      }
      return withDatabase(createService, { canCreate: shard === undefined })
    })

  service
    .command('set')
    .argument('<name>')
    .argument('<setting=value...>')
    .option('--yes', 'confirm a change of the currency of a service that has amounts')
    .description('Change settings of a service')
    .addHelpText(
      'after',
      settingsHelp +
        formatExamples(
          ['service set luma backOfficeVersion=2021.3', 'reports an older back-office version'],
          [
            'service set luma readsPerMinute=off voucherType=default',
            'removes the read limit; resets the voucher type',
          ],
          ['service set luma gateways=paypal,visa', 'sets the payment gateways'],
          ['service set luma currency=NZD --yes', 'changes the currency; amounts are not converted'],
          [
            `service set luma 'subscriptionMapping={"email":{"type":"newsletter","yes":"1","no":"2"}}'`,
            'maps the email subscription to references 1 and 2 of the type newsletter',
          ],
        ),
    )
    .action((name: string, assignments: string[], { yes = false }: { yes?: boolean }) => {
      const settings = readAssignments(assignments)
      return withDatabase(async ({ services }) => {
        const { service: selected, db } = await services.find(name)
        const updatedSettings = await db.transaction(async tx => {
          const { currency } = await readSettings(tx, selected)
          const effect = await findCurrencyEffect(tx, selected, currency, settings)
          throwIfAny(checkCurrencyChange(effect, yes, 'To change it, run the command again with --yes.'))
          await applySettings(tx, selected, settings, 'service set')
          if (effect !== undefined) process.stderr.write(`${effect}\n`)
          return loadSettings(tx, selected)
        })
        for (const { name: settingName, value } of updatedSettings)
          if (Object.hasOwn(settings, settingName)) console.log(`${settingName} = ${formatValue(value)}`)
      })
    })

  service
    .command('show')
    .argument('<name>')
    .description("Show a service's settings")
    .examples(['service show luma', 'shows each setting with its description and default'])
    .action((name: string) =>
      withDatabase(async ({ services }) => {
        const { service: selected, db } = await services.find(name)
        for (const { name: setting, value, description, byDefault } of await loadSettings(db, selected))
          console.log(`${setting} = ${formatValue(value)}\n    ${description} Default: ${byDefault}.`)
      }),
    )

  service
    .command('list')
    .description('List services and their changed settings')
    .examples(['service list', 'lists all services'], ['service show luma', 'shows all settings of one'])
    .action(() =>
      withDatabase(async ({ control, databases }) => {
        const rows = (await queryAllDatabases(databases, listChangedSettings)).flat()
        for (const { service: deleted } of await listDeleting(control)) rows.push([deleted.name, '', 'being removed'])
        const shardsByService = new Map((await listAllServices(control)).map(({ name, database }) => [name, database]))
        const isSpread = (await databases.names()).length > 0
        const rowsWithShard = rows.map(([name = '', ...row]) => [
          name,
          ...(isSpread ? [shardsByService.get(name) ?? ''] : []),
          ...row,
        ])
        console.log(formatTable(['service', ...(isSpread ? ['shard'] : []), 'setting', 'value'], rowsWithShard))
      }),
    )

  buildMoveCommand(service)
  buildRestoreServiceCommand(service)
  buildRemoveCommand(service)
}

/** Returns one row per setting that differs from its default, for each service of a database. */
async function listChangedSettings(db: Db): Promise<string[][]> {
  const rows: string[][] = []
  for (const service of await listServices(db)) {
    const changed = (await loadSettings(db, service)).filter(
      ({ name, value }) => JSON.stringify(value) !== JSON.stringify(getDefault(name)),
    )
    if (changed.length === 0) rows.push([service.name, '', 'all defaults'])
    for (const { name, value } of changed) rows.push([service.name, name, formatValue(value)])
  }
  return rows
}

/** Creates a service in another shard. Registers it in the control database first, so that an interrupted creation can be continued. */
async function createInShard(
  { control, databases }: Session,
  name: string,
  database: string,
  initialize: (tx: Db, service: Service) => Promise<void>,
) {
  const data = await databases.open(database)
  const created = await addService(control, name, {}, database)
  const entry =
    created ??
    (await listAllServices(control)).find(candidate => candidate.name === name && candidate.database === database)
  if (!entry) throw new Error(await describeTakenName(control, name))
  const outcome = await data.transaction(async tx => {
    const result = await insertService(tx, entry)
    if (result === 'inserted') await initialize(tx, entry)
    // If the service was registered but is missing, the shard was restored and lost it, so its cursors must expire.
    if (result === 'inserted' && !created) await recordRestore(tx, entry)
    return result
  })
  if (outcome === 'exists') throw new Error(await describeTakenName(control, name))
  if (outcome === 'inserted') return
  await unregisterService(control, entry, database)
  throw new Error(
    `Shard ${database} has a service with this name or number that is missing from the control database, which was probably restored from an older backup. To register it: tillbridge shard add ${database}`,
  )
}

async function describeTakenName(db: Db, name: string) {
  const isBeingDeleted = (await listDeleting(db)).some(({ service }) => service.name === name)
  return isBeingDeleted ? describeDeletion(name) : `Service ${name} exists already.`
}

async function applySettings(tx: Db, service: Service, settings: SettingsChange, operation: string) {
  const before = await readSettings(tx, service)
  const changed = await changeSettings(tx, service, settings)
  throwIfAny([
    ...checkDefaultReason(settings, changed.settings),
    ...checkMappedReferences(settings, await findMappedReferences(tx, service, settings)),
  ])
  const changes = listChanges(before, await readSettings(tx, changed))
  await recordCommand(tx, changed, { operation, subject: '/settings', body: settings, changes })
}

/** Returns the settings of a service, in the order of the documentation. */
async function loadSettings(db: Db, service: Service) {
  const values: Record<string, unknown> = await readSettings(db, service)
  return describeSettings().map(setting => ({ ...setting, value: values[setting.name] }))
}

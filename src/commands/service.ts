import type { Command } from 'commander'
import { noteRestore } from '../backup/history.ts'
import type { Db } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { defaultOf, faultsAfter, type SettingsChange } from '../domain/tenancy/settings-rules.ts'
import { throwIfAny } from '../errors/throw-if-any.ts'
import { forgetEntry, placeService } from '../store/shards/shards.ts'
import { addService, listAllServices, listEnding, listServices } from '../store/tenancy/services.ts'
import { changeSettings, shownSettings } from '../store/tenancy/settings.ts'
import { moveCommand } from './service-move.ts'
import { removeCommand } from './service-remove.ts'
import { readAssignments, settingTexts, textOf } from './setting-assignments.ts'
import { leaveCommandLine } from './terminal/audit.ts'
import { examples } from './terminal/examples.ts'
import { requireName } from './terminal/names.ts'
import { beingRemoved, eachDatabase, type Session, withDatabase } from './terminal/session.ts'
import { table } from './terminal/table.ts'

export function serviceCommand(program: Command) {
  const service = program
    .command('service')
    .description('Services: the tenants of this installation, and what they are set to.')
    .addHelpText(
      'after',
      examples(
        ['service add luma currency=AUD', 'make one'],
        ['service add luma --database eu-2', 'make one in a data database'],
        ['service set luma release=2021.3', 'change one'],
        ['service show luma', 'see one'],
        ['service list', 'see all'],
        ['service move luma --to eu-2', 'move one to a data database, while it is served'],
        ['service remove luma', 'remove one, with all that it has'],
      ),
    )
  const width = Math.max(...settingTexts().map(({ name }) => name.length))
  const settingsHelp = `\nSettings:\n${settingTexts()
    .map(({ name, description, byDefault }) => `  ${name.padEnd(width)} ${description} Default: ${byDefault}.`)
    .join('\n')}\n\nsetting=default returns one to its default. Lists and objects are JSON; names can be a,b,c.\n`

  service
    .command('add')
    .argument('<name>', 'what callers send as X-Service-Name')
    .argument('[setting=value...]')
    .option('--database <name>', 'the data database that it is to be in, rather than the control database')
    .description('Make a service.')
    .addHelpText(
      'after',
      settingsHelp + examples(['service add luma currency=AUD timeZone=Australia/Melbourne', 'an Australian retailer']),
    )
    .action((name: string, assignments: string[], { database }: { database?: string }) => {
      requireName('service', name)
      const settings = readAssignments(assignments)
      const adding = async (session: Session) => {
        const made = (tx: Db, service: Service) => change(tx, service, settings, 'service add')
        if (database === undefined)
          await session.control.transaction(async tx => {
            const service = await addService(tx, name)
            if (!service) throw new Error(await takenName(tx, name))
            await made(tx, service)
          })
        else await addElsewhere(session, name, database, made)
        console.log(`Made the service ${name}. Next: tillbridge user add <username> --service ${name}`)
      }
      return withDatabase(adding, { mayMake: database === undefined })
    })

  service
    .command('set')
    .argument('<name>')
    .argument('<setting=value...>')
    .description('Change settings of a service; the records that show them follow.')
    .addHelpText(
      'after',
      settingsHelp +
        examples(
          ['service set luma release=2021.3', 'answers as an older back office'],
          ['service set luma readsPerMinute=off voucherType=default', 'no limit; no type of voucher'],
          ['service set luma gateways=paypal,visa', 'the ways to pay'],
          [
            `service set luma 'subscriptionMapping={"email":{"type":"newsletter","yes":"1","no":"2"}}'`,
            'e-mails are reference 1 or 2 of the type newsletter',
          ],
        ),
    )
    .action((name: string, assignments: string[]) => {
      const settings = readAssignments(assignments)
      return withDatabase(async ({ services }) => {
        const { service: found, db } = await services.find(name)
        const shown = await db.transaction(async tx => {
          await change(tx, found, settings, 'service set')
          return settingsOf(tx, found)
        })
        for (const { name, value } of shown)
          if (Object.hasOwn(settings, name)) console.log(`${name} = ${textOf(value)}`)
      })
    })

  service
    .command('show')
    .argument('<name>')
    .description('All settings of a service, with what they are about.')
    .addHelpText('after', examples(['service show luma', 'what it is set to, and what it could be']))
    .action((name: string) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        for (const { name: setting, value, description, byDefault } of await settingsOf(db, service))
          console.log(`${setting} = ${textOf(value)}\n    ${description} Default: ${byDefault}.`)
      }),
    )

  service
    .command('list')
    .description('The services, and what they are set to beside the defaults.')
    .addHelpText('after', examples(['service list', 'all of them'], ['service show luma', 'all settings of one']))
    .action(() =>
      withDatabase(async ({ control, databases }) => {
        const rows = (await eachDatabase(databases, ownSettings)).flat()
        for (const { service } of await listEnding(control)) rows.push([service.name, '', 'being removed'])
        const places = new Map((await listAllServices(control)).map(({ name, database }) => [name, database]))
        const isSpread = (await databases.names()).length > 0
        const placed = rows.map(([name = '', ...row]) => [name, ...(isSpread ? [places.get(name) ?? ''] : []), ...row])
        console.log(table(['service', ...(isSpread ? ['database'] : []), 'setting', 'value'], placed))
      }),
    )

  moveCommand(service)
  removeCommand(service)
}

/** What the services of a database are set to beside the defaults, a row each. */
async function ownSettings(db: Db): Promise<string[][]> {
  const rows: string[][] = []
  for (const each of await listServices(db)) {
    const own = (await settingsOf(db, each)).filter(
      ({ name, value }) => JSON.stringify(value) !== JSON.stringify(defaultOf(name)),
    )
    if (own.length === 0) rows.push([each.name, '', 'all by default'])
    for (const { name, value } of own) rows.push([each.name, name, textOf(value)])
  }
  return rows
}

/** Makes a service in a data database. It is entered in the control database first: one that was broken off there is gone on with. */
async function addElsewhere(
  { control, databases }: Session,
  name: string,
  database: string,
  made: (tx: Db, service: Service) => Promise<void>,
) {
  const data = await databases.open(database)
  const fresh = await addService(control, name, {}, database)
  const entered =
    fresh ?? (await listAllServices(control)).find(each => each.name === name && each.database === database)
  if (!entered) throw new Error(await takenName(control, name))
  const placed = await data.transaction(async tx => {
    const found = await placeService(tx, entered)
    if (found === 'made') await made(tx, entered)
    // Or the database has lost it, of which others know.
    if (found === 'made' && !fresh) await noteRestore(tx, entered)
    return found
  })
  if (placed === 'there') throw new Error(await takenName(control, name))
  if (placed === 'made') return
  await forgetEntry(control, entered, database)
  throw new Error(
    `${database} has a service of this name, or of the number that is next here, and the control database does not know it: it was restored from before. To have it known: tillbridge database add ${database}`,
  )
}

async function takenName(db: Db, name: string) {
  const isEnding = (await listEnding(db)).some(({ service }) => service.name === name)
  return isEnding ? beingRemoved(name) : `There is a service ${name} already.`
}

async function change(tx: Db, service: Service, settings: SettingsChange, operation: string) {
  const changed = await changeSettings(tx, service, settings)
  throwIfAny(faultsAfter(settings, changed.settings))
  await leaveCommandLine(tx, changed, { operation, subject: '/settings', body: settings })
}

/** What a service is set to, in the order in which the settings are told of. */
async function settingsOf(db: Db, service: Service) {
  const shown: Record<string, unknown> = await shownSettings(db, service)
  return settingTexts().map(text => ({ ...text, value: shown[text.name] }))
}

import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { addService, listEnding, listServices } from '../accounts.ts'
import type { Db } from '../db.ts'
import { defaultOf, type SettingsChange } from '../domain/settings.ts'
import type { Service } from '../settings.ts'
import { record } from '../store/running/audit.ts'
import { changeSettings, shownSettings } from '../store/running/settings.ts'
import { readAssignments, settingTexts, textOf } from './assignments.ts'
import { removeCommand } from './service-remove.ts'
import { examples } from './terminal/examples.ts'
import { beingRemoved, withDatabase } from './terminal/session.ts'
import { table } from './terminal/table.ts'

export function serviceCommand(program: Command) {
  const service = program
    .command('service')
    .description('Services: the tenants of this installation, and what they are set to.')
    .addHelpText(
      'after',
      examples(
        ['service add luma currency=AUD', 'make one'],
        ['service set luma release=2021.3', 'change one'],
        ['service show luma', 'see one'],
        ['service list', 'see all'],
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
    .description('Make a service.')
    .addHelpText(
      'after',
      settingsHelp + examples(['service add luma currency=AUD timeZone=Australia/Melbourne', 'an Australian retailer']),
    )
    .action((name: string, assignments: string[]) => {
      requireServiceName(name)
      const settings = readAssignments(assignments)
      return withDatabase(async ({ db }) => {
        await db.transaction(async tx => {
          const made = await addService(tx, name)
          if (!made) throw new Error(await takenName(tx, name))
          await change(tx, made, settings, 'service add')
        })
        console.log(`Made the service ${name}. Next: tillbridge user add <username> --service ${name}`)
      })
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
      return withDatabase(async ({ db, services }) => {
        const found = await services.find(name)
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
      withDatabase(async ({ db, services }) => {
        for (const { name: setting, value, description, byDefault } of await settingsOf(db, await services.find(name)))
          console.log(`${setting} = ${textOf(value)}\n    ${description} Default: ${byDefault}.`)
      }),
    )

  service
    .command('list')
    .description('The services, and what they are set to beside the defaults.')
    .addHelpText('after', examples(['service list', 'all of them'], ['service show luma', 'all settings of one']))
    .action(() =>
      withDatabase(async ({ db }) => {
        const rows: string[][] = []
        for (const each of await listServices(db)) {
          const own = (await settingsOf(db, each)).filter(
            ({ name, value }) => JSON.stringify(value) !== JSON.stringify(defaultOf(name)),
          )
          if (own.length === 0) rows.push([each.name, '', 'all by default'])
          for (const { name, value } of own) rows.push([each.name, name, textOf(value)])
        }
        for (const { service } of await listEnding(db)) rows.push([service.name, '', 'being removed'])
        console.log(table(['service', 'setting', 'value'], rows))
      }),
    )

  removeCommand(service)
}

async function takenName(db: Db, name: string) {
  const isEnding = (await listEnding(db)).some(({ service }) => service.name === name)
  return isEnding ? beingRemoved(name) : `There is a service ${name} already.`
}

/** The audit tells what was done here from what came over the API. */
const operator = 'tillbridge (command line)'

async function change(tx: Db, service: Service, settings: SettingsChange, operation: string) {
  const changed = await changeSettings(tx, service, settings)
  await record(tx, changed, {
    username: operator,
    requestId: randomUUID(),
    operation,
    subject: '/settings',
    body: settings,
  })
}

/** What a service is set to, in the order in which the settings are told of. */
async function settingsOf(db: Db, service: Service) {
  const shown: Record<string, unknown> = await shownSettings(db, service)
  return settingTexts().map(text => ({ ...text, value: shown[text.name] }))
}

export function requireServiceName(name: string) {
  if (!/^[\w.-]{1,60}$/.test(name))
    throw new Error('The name of a service has 1 to 60 letters, digits, dots, dashes or underscores.')
}

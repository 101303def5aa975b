import type { Command } from 'commander'
import { addService, listServices } from '../accounts.ts'
import { Settings } from '../settings.ts'
import { changeSettings, readSetting } from '../store/settings.ts'
import { examples } from './examples.ts'
import { withDatabase } from './session.ts'
import { table } from './table.ts'

export function serviceCommand(program: Command) {
  const service = program
    .command('service')
    .description('Services: the tenants of this installation, and what they are set to.')
    .addHelpText(
      'after',
      examples(
        ['service add luma currency=AUD', 'make one'],
        ['service set luma release=2021.3', 'change one'],
        ['service list', 'see all'],
      ),
    )
  const settingsHelp = `\nSettings:\n${Object.entries(Settings.properties)
    .map(
      ([name, shape]) =>
        `  ${name.padEnd(16)} ${(shape as { description?: string }).description} Default: ${JSON.stringify((shape as { default?: unknown }).default)}.`,
    )
    .join('\n')}\n`

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
        if (!(await addService(db, name, settings))) throw new Error(`There is a service ${name} already.`)
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
          ['service set luma readsPerMinute=off', 'no limit'],
        ),
    )
    .action((name: string, assignments: string[]) => {
      const settings = readAssignments(assignments)
      return withDatabase(async ({ db, services }) => {
        const changed = await changeSettings(db, await services.find(name), settings)
        for (const setting of Object.keys(settings))
          console.log(`${setting} = ${changed.settings[setting as keyof Settings]}`)
      })
    })

  service
    .command('list')
    .description('The services and their settings.')
    .addHelpText('after', examples(['service list', 'all of them']))
    .action(() =>
      withDatabase(async ({ db }) => {
        const names = Object.keys(Settings.properties) as (keyof Settings)[]
        console.log(
          table(
            ['service', ...names],
            (await listServices(db)).map(({ name, settings }) => [
              name,
              ...names.map(setting => String(settings[setting])),
            ]),
          ),
        )
      }),
    )
}

export function requireServiceName(name: string) {
  if (!/^[\w.-]{1,60}$/.test(name))
    throw new Error('The name of a service has 1 to 60 letters, digits, dots, dashes or underscores.')
}

/** `setting=value` pairs; every fault in them at once. */
function readAssignments(assignments: readonly string[]): Partial<Settings> {
  const faults: string[] = []
  const settings: Record<string, unknown> = {}
  for (const assignment of assignments) {
    const [, name = assignment, text] = /^(\w+)=(.*)$/s.exec(assignment) ?? []
    const read =
      text === undefined ? { fault: `${assignment} is not of the form setting=value.` } : readSetting(name, text)
    if ('fault' in read) faults.push(read.fault)
    else settings[name] = read.value
  }
  if (faults.length) throw new Error(faults.join('\n'))
  return settings
}

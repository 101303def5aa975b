import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { backOfficeOf, readConfig } from '../../config/config.ts'
import type { Keys } from '../../crypto/keys.ts'
import type { Db } from '../../database/db.ts'
import {
  type BackOfficeField,
  type BackOfficeSettings,
  backOfficeFields,
  contradictionsIn,
  type DriverName,
  driverNames,
  ours,
  unfitFor,
} from '../../domain/tenancy/back-office-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { clearBackOffice, setBackOffice, storedBackOffice } from '../../store/backoffice/connections.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import { leaveCommandLine } from '../terminal/audit.ts'
import { examples } from '../terminal/examples.ts'
import { readSecret } from '../terminal/secret.ts'
import { withDatabase } from '../terminal/session.ts'
import * as chosen from './choices.ts'
import { signInOf } from './exports.ts'
import { examine } from './test.ts'

const fields = Object.keys(backOfficeFields) as BackOfficeField[]

export function backOfficeCommand(program: Command) {
  const backOffice = program
    .command('back-office')
    .description('What stands behind each service, and how it is reached (docs/back-office.md).')
    .addHelpText(
      'after',
      examples(
        ['back-office set luma url=https://retail.example/RetailAPI/ country=AU user=retail', 'asks for the password'],
        ['back-office test luma', 'whether it can be reached, and what works'],
        ['back-office show luma', 'what is set; never the password'],
        ['back-office clear luma', 'back to what BACK_OFFICE and its like say'],
      ),
    )

  backOffice
    .command('set')
    .argument('<service>')
    .argument('<setting=value...>')
    .option('--password-file <file>', "the user's password; without it, it is read from standard input")
    .option('--exports-password-file <file>', 'that of the SFTP server in exports=, or of its exportsKey=')
    .description(
      "Set a service's own back office; what is not named stays. In force in every process within 5 seconds.",
    )
    .addHelpText('after', settingsHelp())
    .action((name: string, assignments: string[], files: PasswordFiles) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const { change, choices } = await changeFrom(assignments, files)
        const settings = await db.transaction(tx => merge(tx, keys, service, change, choices))
        console.log(linesOf(settings, 'its own', service).join('\n'))
        for (const line of await chosen.unlistedGateways(choices, db, service)) console.log(line)
        console.log(`Next: tillbridge back-office test ${name}`)
      }),
    )

  backOffice
    .command('show')
    .argument('<service>')
    .description('What stands behind a service.')
    .addHelpText('after', examples(['back-office show luma', 'and whether that is its own, or of the environment']))
    .action((name: string) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const { settings, whose } = await effective(db, keys, service)
        console.log(linesOf(settings, whose, service).join('\n'))
      }),
    )

  backOffice
    .command('test')
    .argument('<service>')
    .description('Ask the back office of a service, as the service would: exits with 1 where that fails.')
    .addHelpText('after', examples(['back-office test luma', 'its release, and what works and what does not']))
    .action((name: string) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const { settings } = await effective(db, keys, service)
        await examine(settings, service, db)
      }),
    )

  backOffice
    .command('clear')
    .argument('<service>')
    .description("Forget a service's own back office: what the environment says is behind it again.")
    .addHelpText('after', examples(['back-office clear luma', 'its password is gone too']))
    .action((name: string) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        const cleared = await db.transaction(async tx => {
          const was = await clearBackOffice(tx, service)
          if (was) await note(tx, service, 'back-office clear', {})
          return was
        })
        console.log(cleared ? `${name} is left to the environment.` : `${name} has no back office of its own.`)
      }),
    )
}

function settingsHelp() {
  const lines = [
    ['driver', `One of ${driverNames.join(', ')}. Default: apparel21.`],
    ...fields.map(name => [name, backOfficeFields[name].why]),
    ['ca', 'A file of certificates (PEM) to trust it by, instead of the usual ones; its content is kept.'],
    ...chosen.choicesHelp,
  ] as const
  const width = Math.max(...lines.map(([name]) => name.length))
  return `\nSettings:\n${lines.map(([name, why]) => `  ${name.padEnd(width)} ${why}`).join('\n')}\n\nAn empty value takes one away.\n${examples(
    [
      'back-office set luma url=https://retail.example/RetailAPI/ country=AU user=retail --password-file /run/secrets/retail',
      'with a password from a file',
    ],
    ['back-office set luma timeZone=Australia/Melbourne release=2022.1', 'the rest stays as it is'],
    ['back-office set luma exports=/srv/exports/luma', 'the folder of its scheduled exports'],
    [
      'back-office set luma exports=sftp://luma@files.example/out exportsHostKey=SHA256:… exportsKey=/etc/tillbridge/exports_key',
      'or fetched from a server that is known by its key',
    ],
    ['back-office set luma every.customers=5m every.stock=1m', 'how often feeds are pulled'],
    ['back-office set luma gateway.paypal.merchantId=LUMA-PP gateway.paypal.cardType=PP', 'what it knows a gateway by'],
    ['back-office set luma driver=embedded', 'whatever the environment says, its own tables'],
  )}`
}

interface PasswordFiles {
  passwordFile?: string
  exportsPasswordFile?: string
}
type Change = { [name in keyof BackOfficeSettings]?: BackOfficeSettings[name] | undefined }

/** What is to change; throws with all that is wrong. An empty value takes a setting away. */
async function changeFrom(assignments: readonly string[], { passwordFile, exportsPasswordFile }: PasswordFiles) {
  const { rest, faults, choices } = chosen.choicesAmong(assignments)
  const change: Record<string, string | undefined> = {}
  for (const assignment of rest) {
    const [, name = '', value = ''] = /^([A-Za-z]+)=(.*)$/s.exec(assignment) ?? []
    const unfit = faultOf(name, value, assignment)
    if (unfit !== undefined) faults.push(unfit)
    else if (Object.hasOwn(change, name)) faults.push(`${name} is set twice.`)
    else change[name] = value === '' ? undefined : value
  }
  if (faults.length) throw new Error(faults.join('\n'))
  if (change.ca !== undefined) change.ca = await certificates(change.ca)
  if ('user' in change && change.user === undefined) change.password = undefined
  else if (passwordFile !== undefined || change.user !== undefined)
    change.password = await readSecret('Password: ', passwordFile)
  const isInputTaken = change.user !== undefined && passwordFile === undefined
  const signIn = await signInOf(change, exportsPasswordFile, isInputTaken)
  return { change: { ...signIn, ...change } as Change, choices }
}

function faultOf(name: string, value: string, assignment: string): string | undefined {
  if (name === 'password' || name === 'exportsPassword')
    return 'A password on the command line is seen by everybody on this machine: use --password-file or --exports-password-file, or standard input.'
  if (name === 'driver') {
    const isKnown = (driverNames as readonly string[]).includes(value)
    return isKnown ? undefined : `driver is one of ${driverNames.join(', ')}.`
  }
  if (name === 'ca') return
  if (!(fields as string[]).includes(name))
    return `${JSON.stringify(assignment.slice(0, 40))} is no setting=value; the settings: driver, ${fields.join(', ')}, ca.`
  const unfit = value === '' ? undefined : unfitFor(name as BackOfficeField, value)
  return unfit && `${name} ${unfit}.`
}

async function certificates(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw new Error(`ca: ${path} cannot be read (${code}).`)
  })
  try {
    new X509Certificate(text)
    return text
  } catch {
    throw new Error(`ca: ${path} holds no certificate (PEM).`)
  }
}

async function merge(
  tx: Db,
  keys: Keys,
  service: Service,
  change: Change,
  choices: chosen.ChoiceChange,
): Promise<BackOfficeSettings> {
  const before = await storedBackOffice(tx, keys, service)
  if (before?.isLocked && !('password' in change || 'exportsPassword' in change))
    throw new Error('A password that is kept was encrypted with another key: give it again, with user= or exports=.')
  // An own back office is another one than the environment's: it takes nothing over from there, least of all a password.
  const given = {
    driver: 'apparel21' as DriverName,
    ...before?.settings,
    ...change,
    ...chosen.withChoices(before?.settings, choices),
  }
  const merged = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const settings = (given.driver === ours ? { driver: given.driver } : merged) as unknown as BackOfficeSettings
  const faults = contradictionsIn(settings, name => name)
  if (!faults.length) faults.push(...chosen.unknownFeeds(choices, settings, service))
  if (faults.length) throw new Error(faults.join('\n'))
  await setBackOffice(tx, keys, service, settings)
  const { password: _, exportsPassword: __, ...told } = change
  await note(tx, service, 'back-office set', { ...told, ...chosen.fieldsOf(choices) })
  return settings
}

/** Milliseconds after which every process knows of a change. */
const knownMs = 4_000

/** Leaves a line in the audit, and has what is to be pulled planned anew. */
async function note(tx: Db, service: Service, operation: string, body: object) {
  await leaveCommandLine(tx, service, { operation, subject: '/back-office', body })
  await addJob(tx, null, 'plan-syncs', { dueAt: new Date(Date.now() + knownMs).toISOString() })
}

async function effective(db: Db, keys: Keys, service: Service) {
  const own = await storedBackOffice(db, keys, service)
  if (own?.isLocked) throw new Error('The password was encrypted with another key than SECRET_KEY: set it anew.')
  return own
    ? { settings: own.settings, whose: 'its own' }
    : { settings: backOfficeOf(readConfig()), whose: "the environment's" }
}

function linesOf(settings: BackOfficeSettings, whose: string, service: Service): string[] {
  const shown = fields.flatMap(name => (settings[name] === undefined ? [] : [`${name} = ${settings[name]}`]))
  return [
    `driver = ${settings.driver} (${whose})`,
    ...shown,
    ...(settings.password === undefined ? [] : ['password = (set)']),
    ...(settings.exportsPassword === undefined ? [] : ['exportsPassword = (set)']),
    ...(settings.ca === undefined ? [] : ['ca = (set)']),
    ...chosen.choiceLines(settings, service),
  ]
}

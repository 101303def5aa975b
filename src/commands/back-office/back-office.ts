import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { getBackOfficeSettings, readConfig } from '../../config/config.ts'
import type { Keys } from '../../crypto/keys.ts'
import type { Db } from '../../database/db.ts'
import {
  type BackOfficeField,
  type BackOfficeSettings,
  backOfficeFields,
  type DriverName,
  driverNames,
  embeddedName,
  findContradictions,
  findProblem,
} from '../../domain/tenancy/back-office-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import {
  deleteBackOffice,
  lockStoredBackOffice,
  rescheduleSyncs,
  setBackOffice,
} from '../../store/backoffice/connections.ts'
import { recordCommand } from '../terminal/audit.ts'
import { type Command, formatExamples } from '../terminal/command.ts'
import { readSecret } from '../terminal/secret.ts'
import { withDatabase } from '../terminal/session.ts'
import * as options from './options.ts'
import { readSftpCredentials } from './sftp-credentials.ts'
import { testBackOffice } from './test.ts'

const fields = Object.keys(backOfficeFields) as BackOfficeField[]

export function buildBackOfficeCommand(program: Command) {
  const backOffice = program
    .command('back-office')
    .description('Manage back-office connections')
    .examples(
      ['back-office set luma url=https://retail.example/RetailAPI/ country=AU user=retail', 'prompts for the password'],
      ['back-office test luma', 'checks the connection and the capabilities'],
      ['back-office show luma', 'shows the settings, never a password'],
      ['back-office clear luma', 'returns to the BACK_OFFICE_… defaults'],
    )

  backOffice
    .command('set')
    .argument('<service>')
    .argument('<setting=value...>')
    .option('--password-file <file>', "file with the user's password (default: standard input)")
    .option('--sftp-password-file <file>', 'file with the password of the SFTP user or of sftpKeyFile')
    .description("Set a service's back-office connection")
    .addHelpText('after', formatSettingsHelp())
    .action((name: string, assignments: string[], files: PasswordFiles) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const { change, choices } = await parseChange(assignments, files)
        const settings = await db.transaction(tx => merge(tx, keys, service, change, choices))
        console.log(formatSettings(settings, 'own connection', service).join('\n'))
        for (const line of await options.findUnlistedGateways(choices, db, service)) console.log(line)
        if (settings.driver !== embeddedName && settings.timeZone === undefined && service.settings.timeZone === 'UTC')
          console.log(
            `The time zone is the service's, UTC. If the back office has another one, set timeZone=. A later change corrects the stored times and reads everything again.`,
          )
        console.log(
          `Connection saved. Every process uses it within 5 seconds.\nNext: tillbridge back-office test ${name}`,
        )
      }),
    )

  backOffice
    .command('show')
    .argument('<service>')
    .description("Show a service's back office")
    .examples(['back-office show luma', 'its own connection, or the default'])
    .action((name: string) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const { settings, origin } = await readEffectiveSettings(db, keys, service)
        console.log(formatSettings(settings, origin, service).join('\n'))
      }),
    )

  backOffice
    .command('test')
    .argument('<service>')
    .description("Test a service's back-office connection")
    .examples(['back-office test luma', 'shows its version and capabilities; exits with 1 on failure'])
    .action((name: string) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const { settings } = await readEffectiveSettings(db, keys, service)
        await testBackOffice(settings, service, db)
      }),
    )

  backOffice
    .command('clear')
    .argument('<service>')
    .description("Remove a service's connection and use the default")
    .examples(['back-office clear luma', 'also deletes its password'])
    .action((name: string) =>
      withDatabase(async ({ services }) => {
        const { service, db } = await services.find(name)
        const cleared = await db.transaction(async tx => {
          const existed = await deleteBackOffice(tx, service)
          if (existed) await recordChange(tx, service, 'back-office clear', {})
          return existed
        })
        console.log(
          cleared
            ? `Connection of ${name} removed. It uses the default (BACK_OFFICE_…) now.`
            : `${name} has no connection of its own. It uses the default.`,
        )
      }),
    )
}

function formatSettingsHelp() {
  const lines = [
    ['driver', `One of ${driverNames.join(', ')}. Default: apparel21.`],
    ...fields.map(name => [name, backOfficeFields[name].description]),
    ['ca', "A file with CA certificates (PEM) to trust instead of the system's. Tillbridge stores its content."],
    ...options.optionsHelp,
  ] as const
  const width = Math.max(...lines.map(([name]) => name.length))
  return `\nSettings:\n${lines.map(([name, description]) => `  ${name.padEnd(width)} ${description}`).join('\n')}\n\nAn empty value removes a setting. Settings that you don't name stay unchanged.\n${formatExamples(
    [
      'back-office set luma url=https://retail.example/RetailAPI/ country=AU user=retail --password-file /run/secrets/retail',
      'reads the password from a file',
    ],
    ['back-office set luma timeZone=Australia/Melbourne version=2022.1', 'changes two settings'],
    ['back-office set luma exportFolder=/srv/exports/luma', 'reads scheduled exports from a folder'],
    [
      'back-office set luma exportFolder=sftp://luma@files.example/out sftpHostKey=SHA256:… sftpKeyFile=/etc/tillbridge/exports_key',
      'reads them from an SFTP server',
    ],
    ['back-office set luma interval.customers=5m interval.stock=1m', 'sets sync intervals'],
    ['back-office set luma gateway.paypal.merchantId=LUMA-PP gateway.paypal.cardType=PP', 'maps a payment gateway'],
    ['back-office set luma driver=embedded', 'uses the embedded back office'],
  )}`
}

interface PasswordFiles {
  passwordFile?: string
  sftpPasswordFile?: string
}
type Change = { [name in keyof BackOfficeSettings]?: BackOfficeSettings[name] | undefined }

/** Parses `setting=value` arguments. An empty value removes a setting. Throws an error that lists every problem. */
async function parseChange(assignments: readonly string[], { passwordFile, sftpPasswordFile }: PasswordFiles) {
  const { otherAssignments, problems, choices } = options.parseOptions(assignments)
  const change: Record<string, string | undefined> = {}
  for (const assignment of otherAssignments) {
    const [, name = '', value = ''] = /^([A-Za-z]+)=(.*)$/s.exec(assignment) ?? []
    const problem = findAssignmentProblem(name, value, assignment)
    if (problem !== undefined) problems.push(problem)
    else if (Object.hasOwn(change, name)) problems.push(`${name} can't be set twice.`)
    else change[name] = value === '' ? undefined : value
  }
  if (problems.length) throw new Error(problems.join('\n'))
  if (change.ca !== undefined) change.ca = await readCertificates(change.ca)
  if ('user' in change && change.user === undefined) change.password = undefined
  else if (passwordFile !== undefined || change.user !== undefined)
    change.password = await readSecret('Password: ', passwordFile)
  const isInputTaken = change.user !== undefined && passwordFile === undefined
  const credentials = await readSftpCredentials(change, sftpPasswordFile, isInputTaken)
  return { change: { ...credentials, ...change } as Change, choices }
}

function findAssignmentProblem(name: string, value: string, assignment: string): string | undefined {
  if (name === 'password' || name === 'sftpPassword')
    return "A password can't be a command-line argument: every user of this machine can see it. Use --password-file, --sftp-password-file or standard input."
  if (name === 'driver') {
    const isKnown = (driverNames as readonly string[]).includes(value)
    return isKnown ? undefined : `driver must be one of ${driverNames.join(', ')}.`
  }
  if (name === 'ca') return
  if (!(fields as string[]).includes(name))
    return `${JSON.stringify(assignment.slice(0, 40))} must have the form setting=value. Settings: driver, ${fields.join(', ')}, ca.`
  const problem = value === '' ? undefined : findProblem(name as BackOfficeField, value)
  return problem && `${name} ${problem}.`
}

async function readCertificates(path: string): Promise<string> {
  const content = await readFile(path, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw new Error(`ca: ${path} can't be read (${code}).`)
  })
  try {
    new X509Certificate(content)
    return content
  } catch {
    throw new Error(`ca: ${path} must contain a PEM certificate.`)
  }
}

async function merge(
  tx: Db,
  keys: Keys,
  service: Service,
  change: Change,
  choices: options.OptionsChange,
): Promise<BackOfficeSettings> {
  const before = await lockStoredBackOffice(tx, keys, service)
  if (before?.isLocked && !('password' in change || 'sftpPassword' in change))
    throw new Error(
      'The stored password was encrypted with another SECRET_KEY. Set it again, together with user= or exportFolder=.',
    )
  // A service's own connection inherits nothing from the default, least of all a password.
  const requested = {
    driver: 'apparel21' as DriverName,
    ...before?.settings,
    ...change,
    ...options.applyOptions(before?.settings, choices),
  }
  const merged = Object.fromEntries(Object.entries(requested).filter(([, value]) => value !== undefined))
  const settings = (requested.driver === embeddedName
    ? { driver: requested.driver }
    : merged) as unknown as BackOfficeSettings
  const problems = findContradictions(settings, name => name)
  if (!problems.length) problems.push(...options.findUnknownSyncs(choices, settings, service))
  if (problems.length) throw new Error(problems.join('\n'))
  await setBackOffice(tx, keys, service, settings)
  const { password: _, sftpPassword: __, ...audited } = change
  await recordChange(tx, service, 'back-office set', { ...audited, ...options.toAuditedFields(choices) })
  return settings
}

/** Writes an audit entry, and reschedules the syncs once every process uses the new settings. */
async function recordChange(tx: Db, service: Service, operation: string, body: object) {
  await recordCommand(tx, service, { operation, subject: '/back-office', body })
  await rescheduleSyncs(tx)
}

async function readEffectiveSettings(db: Db, keys: Keys, service: Service) {
  const stored = await lockStoredBackOffice(db, keys, service)
  if (stored?.isLocked)
    throw new Error(
      'The stored password was encrypted with another SECRET_KEY. Set it again: tillbridge back-office set.',
    )
  return stored
    ? { settings: stored.settings, origin: 'own connection' }
    : { settings: getBackOfficeSettings(readConfig()), origin: 'default' }
}

function formatSettings(settings: BackOfficeSettings, origin: string, service: Service): string[] {
  const lines = fields.flatMap(name => (settings[name] === undefined ? [] : [`${name} = ${settings[name]}`]))
  return [
    `driver = ${settings.driver} (${origin})`,
    ...lines,
    ...(settings.password === undefined ? [] : ['password = (set)']),
    ...(settings.sftpPassword === undefined ? [] : ['sftpPassword = (set)']),
    ...(settings.ca === undefined ? [] : ['ca = (set)']),
    ...options.formatOptions(settings, service),
  ]
}

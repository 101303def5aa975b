import { access, constants } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import manifest from '../../../package.json' with { type: 'json' }
import type { BackOffices } from '../../backoffice/back-offices.ts'
import { type Config, readConfig } from '../../config/config.ts'
import type { Keys } from '../../crypto/keys.ts'
import { type Db, sql } from '../../database/db.ts'
import { countNoun } from '../../domain/values/nouns.ts'
import { openConfiguredBackOffices } from '../../runtime/app.ts'
import type { OpenedDatabase } from '../../runtime/installation/connect.ts'
import { joinDatabase } from '../../runtime/installation/installation.ts'
import { loadMarkedKeys } from '../../runtime/installation/keys.ts'
import { countRemaining, isRotating } from '../../store/shards/secret-rotation.ts'
import { ensureLocalCertificate, readCertificate } from '../../tls/tls.ts'
import type { Command } from '../terminal/command.ts'
import { createQuietLog } from '../terminal/session.ts'
import { checkBackOffices, checkSyncs } from './back-offices.ts'
import { checkAlerts, checkJobs, checkMinorRelease, describeDatabase, requireMigrated, Warning } from './database.ts'
import {
  checkBackups,
  checkClock,
  checkDisk,
  checkDurability,
  checkFileLimit,
  checkIdentityProvider,
  checkMail,
} from './machine.ts'
import { checkReplicas } from './replicas.ts'
import { checkMoves, checkShards } from './shards.ts'

/** One check. `run` returns its result, or throws an error or a warning that says what to do. */
interface Check {
  name: string
  run: () => Promise<string>
}

export const buildDoctorCommand = (program: Command) =>
  program
    .command('doctor')
    .description('Check the installation')
    .option('--json', 'print the results as JSON')
    .examples(
      ['doctor', 'exits with 1 if a check fails'],
      ['doctor --json', 'prints a list of { check, ok, isWarning, detail }'],
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      const { checks, close } = createChecks()
      const results: { check: string; ok: boolean; isWarning: boolean; detail: string }[] = []
      for (const { name, run } of checks) {
        const result = await run().then(
          detail => ({ check: name, ok: true, isWarning: false, detail }),
          (error: Error) => {
            const isWarning = error instanceof Warning
            return { check: name, ok: isWarning, isWarning, detail: error.message }
          },
        )
        const mark = result.isWarning ? 'WARN' : result.ok ? 'PASS' : 'FAIL'
        if (!json) console.log(`${mark}  ${name.padEnd(12)} ${indent(result.detail)}`)
        if (!result.ok) process.exitCode = 1
        results.push(result)
      }
      if (json) console.log(JSON.stringify(results, undefined, 2))
      await close()
    })

/** Creates the checks in their order: a check can use what an earlier one has opened. `close` closes what the checks have opened. */
function createChecks(): { checks: readonly Check[]; close(): Promise<void> } {
  let config: Config | undefined
  let data: string | undefined
  let opened: OpenedDatabase | undefined
  // Set only if no migration is missing. `opened` is set in any case, so that it is closed.
  let database: OpenedDatabase | undefined
  let keys: Keys | undefined
  let offices: BackOffices | undefined
  /** Returns the result of an earlier check. Throws if that check failed. */
  const requireResult = <T>(value: T | undefined, prerequisite: string): T => {
    if (value === undefined) throw new Error(`Not checked: fix ${config ? prerequisite : 'the settings'} first.`)
    return value
  }
  const checks: Check[] = [
    { name: 'Release', run: async () => `${manifest.version}, Node ${process.versions.node}` },
    {
      name: 'Settings',
      async run() {
        config = readConfig()
        return 'all are valid'
      },
    },
    {
      name: 'Data',
      async run() {
        data = await checkDataDirectory(requireResult(config, 'the settings'))
        return data
      },
    },
    {
      name: 'Certificate',
      async run() {
        const settings = requireResult(config, 'the settings')
        if (!settings.tlsCertFile) requireResult(data, 'the data directory')
        return checkCertificate(settings)
      },
    },
    {
      name: 'Database',
      async run() {
        const settings = requireResult(config, 'the settings')
        if (!settings.databaseUrl) requireResult(data, 'the data directory')
        opened = await joinDatabase(settings, { skipMigrations: true })
        await requireMigrated(opened)
        database = opened
        return describeDatabase(database, settings)
      },
    },
    { name: 'PostgreSQL', run: async () => checkMinorRelease(requireResult(database, 'the database')) },
    {
      name: 'Replicas',
      run: async () => checkReplicas(requireResult(config, 'the settings'), requireResult(database, 'the database').db),
    },
    { name: 'Clock', run: async () => checkClock(requireResult(database, 'the database').db) },
    { name: 'Disk', run: async () => checkDisk(requireResult(data, 'the data directory')) },
    { name: 'Files', run: checkFileLimit },
    { name: 'Durability', run: async () => checkDurability(requireResult(database, 'the database').db) },
    {
      name: 'Secret',
      async run() {
        const { db } = requireResult(database, 'the database')
        keys = await loadMarkedKeys(requireResult(config, 'the settings'), db)
        return checkRotation(db, keys)
      },
    },
    { name: 'Services', run: async () => checkServices(requireResult(database, 'the database')) },
    {
      name: 'Back office',
      async run() {
        const { db } = requireResult(database, 'the database')
        const settings = requireResult(config, 'the settings')
        offices = await openConfiguredBackOffices(settings, requireResult(keys, 'the secret'), db, createQuietLog())
        return checkBackOffices(db, offices, settings)
      },
    },
    {
      name: 'Syncs',
      run: async () =>
        checkSyncs(requireResult(database, 'the database').db, requireResult(offices, 'the back office')),
    },
    { name: 'Email', run: async () => checkMail(requireResult(config, 'the settings')) },
    {
      name: 'Sign-in',
      run: async () =>
        checkIdentityProvider(requireResult(config, 'the settings'), requireResult(database, 'the database').db),
    },
    { name: 'Jobs', run: async () => checkJobs(requireResult(database, 'the database')) },
    { name: 'Alerts', run: async () => checkAlerts(requireResult(database, 'the database')) },
    {
      name: 'Backups',
      run: async () => checkBackups(requireResult(config, 'the settings'), requireResult(database, 'the database').db),
    },
    {
      name: 'Shards',
      run: async () => {
        const { db } = requireResult(database, 'the database')
        return checkShards(requireResult(config, 'the settings'), { db, keys: requireResult(keys, 'the secret') })
      },
    },
    { name: 'Moves', run: async () => checkMoves(requireResult(database, 'the database').db) },
  ]
  return {
    checks,
    async close() {
      offices?.close()
      await opened?.close()
    },
  }
}

const indent = (lines: string) => lines.replaceAll('\n', `\n${' '.repeat(19)}`)

async function checkDataDirectory({ dataDir }: Config) {
  await access(dataDir, constants.R_OK | constants.W_OK).catch(() => {
    throw new Error(
      `${resolve(dataDir)} must be a directory that Tillbridge can write to. Run "tillbridge start" to create it, or set DATA_DIR.`,
    )
  })
  return dataDir
}

function checkCertificate({ tlsCertFile, tlsKeyFile, dataDir }: Config) {
  const { notAfter } =
    tlsCertFile && tlsKeyFile ? readCertificate(tlsCertFile, tlsKeyFile) : ensureLocalCertificate(join(dataDir, 'tls'))
  const days = Math.floor((notAfter.getTime() - Date.now()) / 86_400_000)
  const certificate = tlsCertFile ?? 'local certificate for localhost'
  if (days < 30) throw new Error(`${certificate}, expires in ${countNoun(days, 'day')}. Renew it.`)
  return `${certificate}, expires in ${countNoun(days, 'day')}`
}

/** Warns of an unfinished rotation. */
async function checkRotation(control: Db, keys: Keys) {
  if (!(await isRotating(control))) return 'matches this database'
  const { encrypted, passwords, pins } = await countRemaining(control, keys)
  throw new Warning(
    `The rotation of the secret key is unfinished: encrypted values (${encrypted}), passwords and API keys (${passwords}) and voucher PINs (${pins}) of the control database still need the previous key. Keep both keys, and run "tillbridge secret rotate" until it prints that the rotation is completed.`,
  )
}

async function checkServices({ db }: OpenedDatabase) {
  const row = await db.row<{ services: number; accounts: number; unused: string[] }>(sql`
    select (select count(*)::integer from service) as services, (select count(*)::integer from account) as accounts,
           array(select name from service s where not exists (select from account_service a where a.service_id = s.service_id) order by name) as unused`)
  if (!row?.services) throw new Error('No service exists. To create one: tillbridge service add <name>')
  if (row.unused.length)
    throw new Error(
      `No account has access to ${row.unused.join(', ')}. To create one: tillbridge account add <username> --service ${row.unused[0]}`,
    )
  return `services: ${row.services}, accounts: ${row.accounts}`
}

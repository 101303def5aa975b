import { access, constants } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import manifest from '../../../package.json' with { type: 'json' }
import { type BackOffices, openBackOffices } from '../../backoffice/back-offices.ts'
import { backOfficeSettings, type Config, readConfig } from '../../config/config.ts'
import type { Keys } from '../../crypto/keys.ts'
import { sql } from '../../database/db.ts'
import type { OpenedDatabase } from '../../runtime/installation/connect.ts'
import { joinDatabase } from '../../runtime/installation/installation.ts'
import { knownKeys } from '../../runtime/installation/keys.ts'
import { localCertificate, readCertificate } from '../../tls/tls.ts'
import { examples } from '../terminal/examples.ts'
import { quietLog } from '../terminal/quiet-log.ts'
import { backOffices, feeds } from './back-offices.ts'
import { aboutDatabase, alerts, jobs, requireMigrated } from './database.ts'
import { backups, clock, disk, durability, fileLimit, mail } from './machine.ts'
import { moves } from './moves.ts'
import { replicas } from './replicas.ts'
import { dataDatabases } from './shards.ts'

/** One thing looked at: how it is, or an error that says what to do. */
interface Check {
  what: string
  look: () => Promise<string>
}

export const doctorCommand = (program: Command) =>
  program
    .command('doctor')
    .description('Check the settings, the database, the certificate and the back office, and say what is missing.')
    .option('--json', 'for a program: a list of what was looked at')
    .addHelpText(
      'after',
      examples(['doctor', 'exits with 1 when something is missing'], ['doctor --json', 'a list of { what, ok, says }']),
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      let config: Config | undefined
      let data: string | undefined
      let opened: OpenedDatabase | undefined
      let database: OpenedDatabase | undefined
      let keys: Keys | undefined
      let offices: BackOffices | undefined
      const need = <T>(value: T | undefined, what: string): T => {
        if (value === undefined) throw new Error(`Not looked at: ${what} first.`)
        return value
      }
      const checks: Check[] = [
        { what: 'Release', look: async () => `${manifest.version}, Node ${process.versions.node}` },
        {
          what: 'Settings',
          async look() {
            config = readConfig()
            return 'all can be read'
          },
        },
        {
          what: 'Data',
          async look() {
            data = await dataDirectory(need(config, 'the settings'))
            return data
          },
        },
        {
          what: 'Certificate',
          async look() {
            const settings = need(config, 'the settings')
            if (!settings.tlsCertFile) need(data, 'the data directory')
            return certificate(settings)
          },
        },
        {
          what: 'Database',
          async look() {
            const settings = need(config, 'the settings')
            if (!settings.databaseUrl) need(data, 'the data directory')
            opened = await joinDatabase(settings, { asItIs: true })
            await requireMigrated(opened)
            database = opened
            return aboutDatabase(database)
          },
        },
        {
          what: 'Replicas',
          look: async () => replicas(need(config, 'the settings'), need(database, 'the database').db),
        },
        { what: 'Clock', look: async () => clock(need(database, 'the database').db) },
        { what: 'Disk', look: async () => disk(need(data, 'the data directory')) },
        { what: 'Files', look: fileLimit },
        { what: 'Durability', look: async () => durability(need(database, 'the database').db) },
        {
          what: 'Secret',
          async look() {
            const { db } = need(database, 'the database')
            keys = await knownKeys(need(config, 'the settings'), db)
            return 'the one that this database was first started with'
          },
        },
        { what: 'Services', look: async () => services(need(database, 'the database')) },
        {
          what: 'Back office',
          async look() {
            const { db } = need(database, 'the database')
            const settings = need(config, 'the settings')
            const from = { db, keys: need(keys, 'the secret'), defaults: backOfficeSettings(settings), log: quietLog() }
            offices = await openBackOffices(from)
            return backOffices(db, offices, settings)
          },
        },
        {
          what: 'Feeds',
          look: async () => feeds(need(database, 'the database').db, need(offices, 'the back office')),
        },
        { what: 'Mail', look: async () => mail(need(config, 'the settings')) },
        { what: 'Jobs', look: async () => jobs(need(database, 'the database')) },
        { what: 'Alerts', look: async () => alerts(need(database, 'the database')) },
        { what: 'Backups', look: async () => backups(need(database, 'the database').db) },
        {
          what: 'Databases',
          look: async () => {
            const { db } = need(database, 'the database')
            return dataDatabases(need(config, 'the settings'), { db, keys: need(keys, 'the secret') })
          },
        },
        { what: 'Moves', look: async () => moves(need(database, 'the database').db) },
      ]
      const found: { what: string; ok: boolean; says: string }[] = []
      for (const { what, look } of checks) {
        const one = await look().then(
          says => ({ what, ok: true, says }),
          (error: Error) => ({ what, ok: false, says: error.message }),
        )
        if (!json) console.log(`${one.ok ? 'ok     ' : 'MISSING'}  ${what.padEnd(12)} ${indented(one.says)}`)
        if (!one.ok) process.exitCode = 1
        found.push(one)
      }
      if (json) console.log(JSON.stringify(found, undefined, 2))
      offices?.close()
      await opened?.close()
    })

const indented = (text: string) => text.replaceAll('\n', `\n${' '.repeat(22)}`)

async function dataDirectory({ dataDir }: Config) {
  await access(dataDir, constants.R_OK | constants.W_OK).catch(() => {
    throw new Error(
      `${resolve(dataDir)} is not there or cannot be written to: tillbridge start makes it; or set DATA_DIR.`,
    )
  })
  return dataDir
}

function certificate({ tlsCertFile, tlsKeyFile, dataDir }: Config) {
  const { notAfter } =
    tlsCertFile && tlsKeyFile ? readCertificate(tlsCertFile, tlsKeyFile) : localCertificate(join(dataDir, 'tls'))
  const days = Math.floor((notAfter.getTime() - Date.now()) / 86_400_000)
  if (days < 30) throw new Error(`The certificate ends in ${days} days: renew it.`)
  return `${tlsCertFile ?? 'made here, for localhost'}, good for ${days} days`
}

async function services({ db }: OpenedDatabase) {
  const row = await db.row<{ services: number; accounts: number; lonely: string[] }>(sql`
    select (select count(*)::integer from service) as services, (select count(*)::integer from account) as accounts,
           array(select name from service s where not exists (select from account_service a where a.service_id = s.service_id) order by name) as lonely`)
  if (!row?.services) throw new Error('There is no service: tillbridge service add <name>')
  if (row.lonely.length)
    throw new Error(
      `Nobody may use ${row.lonely.join(', ')}: tillbridge user add <username> --service ${row.lonely[0]}`,
    )
  return `${row.services} with ${row.accounts} accounts`
}

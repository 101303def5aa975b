import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deriveKeys, type Keys } from '../../src/crypto/keys.ts'
import { type Database, openDatabase } from '../../src/database/db.ts'
import { migrate } from '../../src/database/migrate.ts'
import type { Service, Settings } from '../../src/domain/tenancy/service-settings.ts'
import { type Postgres, startPostgres } from '../../src/postgres/postgres.ts'
import { addAccount } from '../../src/store/accounts/accounts.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import type { Failpoint } from '../../src/testing/failpoints.ts'
import { type Credentials, toApiKey } from './operations/client.ts'
import { type ManagedProcess, type ProcessRole, startManagedProcess } from './processes.ts'

/** An installation of real processes: PostgreSQL, API processes and workers, with one service and one account. */
export interface Installation {
  directory: string
  /** The bundled PostgreSQL; its pid is 0 if the scenario brought its own. */
  postgres: Pick<Postgres, 'pid'>
  databaseUrl: string
  db: Database
  keys: Keys
  /** SECRET_KEY. */
  secret: string
  service: Service
  credentials: Credentials
  apis: ManagedProcess[]
  workers: ManagedProcess[]
  /** Unexpected lines that the processes logged. */
  log: string[]
  close(): Promise<void>
}

export interface InstallationOptions {
  /** Number of API processes. Default 1. */
  apis?: number
  /** Number of workers. Default 0. */
  workers?: number
  /** A database to use instead of a bundled PostgreSQL. */
  database?: { url: string; stop(): Promise<void> } | undefined
  /** Returns further environment variables of a process, by its name (`api-1`, `worker-1`). */
  buildEnvironment?: (name: string) => Record<string, string>
  /** Returns other database URLs for some processes, by their names. */
  routeDatabase?: (databaseUrl: string) => Promise<Record<string, string>>
  settings?: Partial<Settings>
  environment?: Record<string, string>
  /** Runs before the processes start. */
  prepare?: (installed: Pick<Installation, 'db' | 'keys' | 'service'>) => Promise<unknown>
  /** A program to run instead of `tillbridge`; its only argument is the role. */
  program?: string | undefined
  crashPoint?: (role: ProcessRole) => Failpoint | undefined
  /** Called after each kill of a process. */
  onKill?: (db: Database, processRun: string) => void
  /** Filters the log. Default: lines of level error and above. */
  isUnexpected?: (line: string) => boolean
}

const isError = (line: string) => /"level":(50|60)/.test(line)

/** Creates the URL of a bundled PostgreSQL's database. */
async function startBundled(directory: string) {
  // A scenario can kill PostgreSQL, which must restart at once.
  const postgres = await startPostgres(join(directory, 'postgres'), { restartDelaysMs: Array(10_000).fill(0) })
  const { host, port, user, database } = postgres.connection
  const url = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
  return { url, stop: postgres.stop, postgres }
}

const programArgs = { api: ['start', '--no-demo'], worker: ['worker'] } as const

export async function openInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const { database, apis = 1, workers = 0, environment, isUnexpected = isError, program } = options
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-scenario-'))
  chmodSync(directory, 0o711)
  const {
    url: databaseUrl,
    stop,
    postgres,
  } = database ? { ...database, postgres: { pid: 0 } } : await startBundled(directory)
  const db = openDatabase(databaseUrl, { max: 6, statementTimeoutMs: 60_000, onFault: () => {} })
  await migrate(db)
  const secret = randomBytes(32).toString('hex')
  const keys = deriveKeys(secret)
  // Shoppers of a scenario order more units than the stores have.
  const settings: Partial<Settings> = {
    readsPerMinute: 'off',
    writesPerMinute: 'off',
    oversell: 'allow',
    ...options.settings,
  }
  const service = await addService(db, 'scenario', settings)
  if (!service) throw new Error('service scenario exists in an empty database')
  const password = await addAccount(db, keys, 'scenario', service, 'admin')
  if (!password) throw new Error('account scenario exists in an empty database')
  await options.prepare?.({ db, keys, service })
  const log: string[] = []
  const urls = await options.routeDatabase?.(databaseUrl)
  const start = (count: number, role: ProcessRole) =>
    Promise.all(
      Array.from({ length: count }, (_, i) => {
        const name = `${role}-${i + 1}`
        return startManagedProcess({
          name,
          directory,
          databaseUrl: urls?.[name] ?? databaseUrl,
          program,
          args: program ? [role] : programArgs[role],
          environment: { SECRET_KEY: secret, RUN_JOBS: 'false', ...environment, ...options.buildEnvironment?.(name) },
          crashPoint: () => options.crashPoint?.(role),
          onLog: line => void (isUnexpected(line) && log.push(line)),
          onKill: processRun => options.onKill?.(db, processRun),
        })
      }),
    )
  const [startedApis, startedWorkers] = await Promise.all([start(apis, 'api'), start(workers, 'worker')])
  return {
    directory,
    postgres,
    databaseUrl,
    db,
    keys,
    secret,
    service,
    credentials: { apiKey: toApiKey('scenario', password), service: service.name },
    apis: startedApis,
    workers: startedWorkers,
    log,
    async close() {
      await Promise.all([...startedApis, ...startedWorkers].map(server => server.end()))
      await db.close()
      await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

import { pino } from 'pino'
import { readConfig } from '../../config/config.ts'
import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { ConnectOptions, OpenedDatabase } from '../../runtime/installation/connect.ts'
import { joinInstallation } from '../../runtime/installation/installation.ts'
import { describeMissingService, openShard } from '../../runtime/shards/open-shard.ts'
import { listShards } from '../../store/shards/shards.ts'
import { listAllServices, listDeleting, readService } from '../../store/tenancy/services.ts'
import { createLogStream } from '../../telemetry/log-lines.ts'

/** The databases, keys and services that a command uses. */
export interface Session {
  /** The control database: accounts, and the list of services. */
  control: Database
  keys: Keys
  databases: {
    /** Opens a shard by name, or the control database without one. It is closed with the session. */
    open(name?: string): Promise<Database>
    names(): Promise<string[]>
  }
  services: {
    /** Finds a service by name, or the only one without a name. Throws if it isn't found. */
    find(name?: string): Promise<LocatedService>
  }
}

/** A service and its shard. */
export interface LocatedService {
  service: Service
  db: Database
}

/** Runs a command against the installation's database. Opens it if no process is running. */
export async function withDatabase<T>(
  work: (session: Session) => Promise<T>,
  { canCreate = false }: Pick<ConnectOptions, 'canCreate'> = {},
): Promise<T> {
  const config = readConfig()
  const opening = { statementTimeoutMs: 0, onNotice: (notice: string) => console.error(notice) }
  const installation = await joinInstallation(config, { ...opening, canCreate })
  const opened = new Map<string, OpenedDatabase>()
  try {
    const { db: control, keys } = installation
    const open = async (name?: string) => {
      if (name === undefined) return control
      const shard = opened.get(name) ?? (await openShard(config, installation, name, opening))
      opened.set(name, shard)
      return shard.db
    }
    const listNames = async () => (await listShards(control)).map(({ name }) => name)
    const find = async (name?: string): Promise<LocatedService> => {
      const entry = await findService(control, name)
      if (entry.database === undefined) return { service: entry, db: control }
      const db = await open(entry.database)
      const service = await readService(db, entry.id)
      if (!service) throw new Error(describeMissingService(entry.database, entry.name))
      return { service, db }
    }
    return await work({ control, keys, databases: { open, names: listNames }, services: { find } })
  } finally {
    await Promise.all([...opened.values()].map(database => database.close()))
    await installation.close()
  }
}

/** Runs a query on the control database and on each shard. Prints the error of an unreachable shard and sets exit code 1. */
export async function queryAllDatabases<T>(
  { open, names }: Session['databases'],
  query: (db: Database) => Promise<T>,
): Promise<T[]> {
  const results: T[] = []
  for (const name of [undefined, ...(await names())])
    try {
      results.push(await query(await open(name)))
    } catch (error) {
      if (name === undefined) throw error
      console.error((error as Error).message)
      process.exitCode = 1
    }
  return results
}

async function findService(db: Database, name?: string): Promise<Service> {
  const services = await listAllServices(db)
  const names = services.map(service => service.name).join(', ')
  if (name !== undefined) {
    const selected = services.find(service => service.name === name)
    if ((await listDeleting(db)).some(({ service }) => service.name === name)) throw new Error(describeDeletion(name))
    if (!selected)
      throw new Error(
        names
          ? `Service ${name} not found. Services: ${names}.`
          : `Service ${name} not found. To create it: tillbridge service add ${name}`,
      )
    return selected
  }
  const [only, ...more] = services
  if (!only) throw new Error('No service exists yet. Create one: tillbridge service add <name>')
  if (more.length) throw new Error(`--service is required, because there are several services: ${names}.`)
  return only
}

export const describeDeletion = (name: string) =>
  `Service ${name} is being removed. To continue: tillbridge service remove ${name}`

/** Returns the log of a command: errors only, on standard error, one line each. */
export const createQuietLog = () => pino({ level: 'error', base: null }, createLogStream())

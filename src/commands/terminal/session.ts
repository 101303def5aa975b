import { listEnding, listServices } from '../../accounts.ts'
import { readConfig } from '../../config.ts'
import type { Database } from '../../db.ts'
import { joinInstallation } from '../../running/installation.ts'
import type { Keys } from '../../secrets.ts'
import type { Service } from '../../settings.ts'

/** What a command works with. */
export interface Session {
  db: Database
  keys: Keys
  services: {
    /** The service of this name; without a name the only one there is. */
    find(name?: string): Promise<Service>
  }
}

/** Runs a command against the installation's database: the running one, or one opened for the time being. */
export async function withDatabase<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const installation = await joinInstallation(readConfig(), {
    statementTimeoutMs: 0,
    onNotice: notice => console.error(notice),
  })
  try {
    const { db, keys } = installation
    return await work({ db, keys, services: { find: name => findService(db, name) } })
  } finally {
    await installation.close()
  }
}

async function findService(db: Database, name?: string): Promise<Service> {
  const services = await listServices(db)
  const names = services.map(service => service.name).join(', ')
  if (name !== undefined) {
    const found = services.find(service => service.name === name)
    if ((await listEnding(db)).some(({ service }) => service.name === name)) throw new Error(beingRemoved(name))
    if (!found)
      throw new Error(
        names
          ? `There is no service ${name}; there are: ${names}.`
          : `There is no service ${name}; make it with: tillbridge service add ${name}`,
      )
    return found
  }
  const [only, ...more] = services
  if (!only) throw new Error('There is no service yet; make one with: tillbridge service add <name>')
  if (more.length) throw new Error(`There are several services; say which one with --service: ${names}.`)
  return only
}

export const beingRemoved = (name: string) =>
  `The service ${name} is being removed. To have that go on: tillbridge service remove ${name}`

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { accountExists, addAccount, addPassword, addService, listServices } from '../accounts.ts'
import type { Offices } from '../backoffice/offices.ts'
import type { Config } from '../config.ts'
import { sql } from '../db.ts'
import { demoSettings, fillDemoShop } from '../demo/shop.ts'
import { signIn } from '../sign-in.ts'
import { setBackOffice } from '../store/running/back-office.ts'
import { firstSync } from './first-sync.ts'
import type { Installation } from './installation.ts'

/** What a stranger needs for a first request; kept in `access.json` under DATA_DIR (mode 600). */
export interface Access {
  baseUrl: string
  username: string
  password: string
  serviceName: string
  caFile: string | undefined
}

const demoName = 'demo'
/** The service that a fresh installation makes for the back office of the environment, and its account. */
const firstName = 'shop'

interface Preparing {
  demo: boolean
  say: (line: string) => void
}

/**
 * Makes a service where there is none yet - the demo, or the first one of the back office that the environment names - and finds, or
 * makes anew, the access to it.
 */
export async function prepareAccess(
  config: Config,
  installation: Installation,
  offices: Offices,
  { demo, say }: Preparing,
) {
  const { db, keys } = installation
  const file = resolve(config.dataDir, 'access.json')
  const services = await listServices(db)
  const isOwn = config.backOffice === 'embedded'
  const name = isOwn ? demoName : firstName
  let password: string | undefined
  if (demo && isOwn && services.every(({ name }) => name === unfinished(demoName))) {
    if (!services.length) say('First start: making a demo shop, which takes some seconds.')
    password = await makeDemo(installation, demoName, say)
  }
  if (demo && !isOwn && services.every(service => offices.settingsOf(service).driver === 'embedded'))
    password = await makeFirst(config, installation, offices, say)
  // Where the account was revoked, there is no access to tell of.
  const isThere = (await listServices(db)).some(service => service.name === name) && (await accountExists(db, name))
  if (!isThere) return
  password ??= (await knownPassword()) ?? (await addPassword(db, keys, name))

  /** The one in the file, if it is (still) one of this database. */
  async function knownPassword() {
    const known = await readFile(file, 'utf8').then(
      text => (JSON.parse(text) as Partial<Access>).password,
      () => undefined,
    )
    const opened = typeof known === 'string' && (await signIn(db, keys)(name, known, 'access.json'))
    return opened instanceof Map ? known : undefined
  }

  const facts: Access = { baseUrl: '', username: name, password, serviceName: name, caFile: undefined }
  return {
    facts,
    async save({ baseUrl, caFile }: Pick<Access, 'baseUrl' | 'caFile'>) {
      Object.assign(facts, { baseUrl, caFile: caFile && resolve(caFile) })
      await mkdir(config.dataDir, { recursive: true, mode: 0o711 })
      await writeFile(`${file}.new`, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 })
      await rename(`${file}.new`, file)
    },
  }
}

/** A service for the back office of the environment, with an account and what can be read in a while. Returns the account's password. */
async function makeFirst(
  config: Config,
  { db, keys }: Pick<Installation, 'db' | 'keys'>,
  offices: Offices,
  say: (line: string) => void,
) {
  const timeZone = config.backOfficeTimeZone
  const made = await db.transaction(async tx => {
    const service = await addService(tx, firstName, timeZone === undefined ? {} : { timeZone })
    return service && { service, password: await addAccount(tx, keys, firstName, service, 'admin') }
  })
  if (made) await firstSync(db, offices, made.service, say)
  return made?.password
}

/** The name of a demo service until it is whole: one that was interrupted is found by it, and finished. */
const unfinished = (name: string) => `${name} (being made)`

/** Makes a service with a demo shop, and an account of the same name that is its admin. Returns the password of a new account. */
export async function makeDemo(
  { db, keys }: Pick<Installation, 'db' | 'keys'>,
  name: string,
  say: (line: string) => void,
) {
  const services = await listServices(db)
  if (services.some(service => service.name === name)) throw new Error(`There is a service ${name} already.`)
  const service =
    (await addService(db, unfinished(name), demoSettings)) ??
    services.find(service => service.name === unfinished(name))
  if (!service) throw new Error(`The service ${name} is being made by another process.`)
  // Its data is made up: whatever the environment says, no other back office is behind it.
  await setBackOffice(db, keys, service, { driver: 'embedded' })
  await fillDemoShop(db, keys, service, say)
  const password = await addAccount(db, keys, name, service, 'admin')
  await db.run(sql`update service set name = ${name} where service_id = ${service.id}`)
  return password
}

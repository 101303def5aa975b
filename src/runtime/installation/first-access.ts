import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, resolve } from 'node:path'
import { demoSettings, fillDemoShop } from '../../../seed/shop.ts'
import { createSignIn } from '../../auth/sign-in.ts'
import type { BackOffices } from '../../backoffice/back-offices.ts'
import { type Config, ConfigError } from '../../config/config.ts'
import { embeddedName } from '../../domain/tenancy/back-office-settings.ts'
import { writeAtomically } from '../../files/atomic-write.ts'
import { accountExists, addAccount, addPassword } from '../../store/accounts/accounts.ts'
import { setBackOffice } from '../../store/backoffice/connections.ts'
import { addService, listAllServices, renameService } from '../../store/tenancy/services.ts'
import { runFirstSync } from './first-sync.ts'
import type { Installation } from './installation.ts'

/** Address and credentials for a first request, stored in `access.json` under DATA_DIR (mode 600). */
export interface Access {
  baseUrl: string
  username: string
  password: string
  serviceName: string
  caFile: string | undefined
}

/** The access that a start prints: of an account that this start or an earlier start created. */
export type PrintedAccess =
  /** Created by this start and shown once. */
  | { created: Access }
  /** Valid credentials are in this file. */
  | { username: string; file: string }
  /** The password of this account is unknown. */
  | { username: string }

export const getUsername = (access: PrintedAccess) => ('created' in access ? access.created.username : access.username)

const demoName = 'demo'
/** Name of the first service for the back office of the environment, and of its account. */
const firstName = 'shop'

interface PrepareOptions extends Pick<Access, 'baseUrl' | 'caFile'> {
  demo: boolean
  say: (line: string) => void
}

/**
 * Creates the first service, if none exists: the demo shop, or one for the back office of the environment. Otherwise returns the access to the
 * service that an earlier start created. Returns undefined if that service or its account no longer exists.
 */
export async function prepareAccess(
  config: Config,
  installation: Installation,
  offices: BackOffices,
  { demo, say, baseUrl, caFile }: PrepareOptions,
): Promise<PrintedAccess | undefined> {
  const { db, keys } = installation
  const file = resolve(config.dataDir, 'access.json')
  const services = await listAllServices(db)
  const isEmbedded = config.backOffice === embeddedName
  const name = isEmbedded ? demoName : firstName
  const address = { baseUrl, caFile: caFile && resolve(caFile) }
  let created: Access | undefined
  const saveAccess = async (password: string | undefined) => {
    if (password === undefined) return
    created = { baseUrl, username: name, password, serviceName: name, caFile: address.caFile }
    await writeAccess(file, created)
  }
  if (demo && isEmbedded && services.every(({ name: serviceName }) => serviceName === getDraftName(demoName))) {
    if (!services.length) say('First start: creating a demo shop. This takes a few seconds.')
    // If an earlier start was interrupted, its password was never shown, so the account gets a new one.
    await saveAccess((await createDemoService(installation, demoName, say)) ?? (await addPassword(db, keys, demoName)))
  }
  if (demo && !isEmbedded && services.every(service => offices.getSettings(service).driver === embeddedName)) {
    const first = await createFirstService(config, installation)
    await saveAccess(first?.password)
    if (first) await runFirstSync(db, offices, first.service, say)
  }
  if (created) return { created }
  const exists = (await listAllServices(db)).some(service => service.name === name) && (await accountExists(db, name))
  if (!exists) return
  const saved = await readAccess(file)
  const opened =
    typeof saved?.password === 'string' && (await createSignIn(db, keys)(name, saved.password, () => 'access.json'))
  if (!saved || !(opened instanceof Map)) return { username: name }
  // A second process on this directory keeps the address of the one that serves. With the bundled database, this is the only process.
  if (installation.postgres || saved.baseUrl === baseUrl || !(await isServed(saved.baseUrl)))
    await writeAccess(file, { ...saved, ...address })
  return { username: name, file }
}

/** Returns the access that an earlier start stored, or undefined. */
export const readAccess = (file: string): Promise<Access | undefined> =>
  readFile(file, 'utf8').then(
    text => JSON.parse(text) as Access,
    () => undefined,
  )

async function writeAccess(file: string, access: Access) {
  await mkdir(dirname(file), { recursive: true, mode: 0o711 })
  const content = `${JSON.stringify(access, null, 2)}\n`
  await writeAtomically(file, draft => writeFile(draft, content, { mode: 0o600 }))
}

/** True if a server listens at an address. */
const isServed = (baseUrl: string) =>
  new Promise<boolean>(done => {
    const { hostname, port } = new URL(baseUrl)
    const socket = connect({ host: hostname, port: Number(port || 443), timeout: 2_000 })
    const end = (served: boolean) => {
      socket.destroy()
      done(served)
    }
    socket
      .once('connect', () => end(true))
      .once('error', () => end(false))
      .once('timeout', () => end(false))
  })

/** Creates a service for the back office of the environment, with an account. Returns undefined if another process has created it. */
async function createFirstService(config: Config, { db, keys }: Pick<Installation, 'db' | 'keys'>) {
  const timeZone = config.backOfficeTimeZone
  // The back office doesn't report its time zone, and times that are stored in the wrong one can't be corrected later.
  if (timeZone === undefined)
    throw new ConfigError(
      'BACK_OFFICE_TIME_ZONE must be set before the first start with a back office, for example BACK_OFFICE_TIME_ZONE=Australia/Melbourne.',
    )
  return db.transaction(async tx => {
    const service = await addService(tx, firstName, { timeZone })
    return service && { service, password: await addAccount(tx, keys, firstName, service, 'admin') }
  })
}

/** The name of a demo service until it is complete. A later start finds an interrupted one by this name and finishes it. */
const getDraftName = (name: string) => `${name} (being created)`

/** Creates a service with a demo shop, and an admin account of the same name. Returns the password of a new account. */
export async function createDemoService(
  { db, keys }: Pick<Installation, 'db' | 'keys'>,
  name: string,
  say: (line: string) => void,
) {
  const services = await listAllServices(db)
  if (services.some(candidate => candidate.name === name)) throw new Error(`Service ${name} already exists.`)
  const service =
    (await addService(db, getDraftName(name), demoSettings)) ??
    services.find(candidate => candidate.name === getDraftName(name))
  if (!service) throw new Error(`Service ${name} is being created by another process.`)
  // Demo data must not reach a real back office, even if the environment names one.
  await setBackOffice(db, keys, service, { driver: embeddedName })
  await fillDemoShop(db, keys, service, say)
  const password = await addAccount(db, keys, name, service, 'admin')
  await renameService(db, service, name)
  return password
}

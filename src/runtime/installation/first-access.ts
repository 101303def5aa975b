import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, resolve } from 'node:path'
import { demoSettings, fillDemoShop } from '../../../seed/shop.ts'
import { signIn } from '../../auth/sign-in.ts'
import type { BackOffices } from '../../backoffice/back-offices.ts'
import type { Config } from '../../config/config.ts'
import { ours } from '../../domain/tenancy/back-office-settings.ts'
import { writeAtomically } from '../../files/atomic-write.ts'
import { accountExists, addAccount, addPassword } from '../../store/accounts/accounts.ts'
import { setBackOffice } from '../../store/backoffice/connections.ts'
import { addService, listAllServices, renameService } from '../../store/tenancy/services.ts'
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

/** What a start tells of access: to what it has made, or to what an earlier start had made. */
export type ToldAccess =
  /** Made by this start, and shown this once. */
  | { made: Access }
  /** Good, in this file. */
  | { username: string; file: string }
  /** No password of this account is known. */
  | { username: string }

/** Whose access it is. */
export const usernameOf = (told: ToldAccess) => ('made' in told ? told.made.username : told.username)

const demoName = 'demo'
/** The service that a fresh installation makes for the back office of the environment, and its account. */
const firstName = 'shop'

interface Preparing extends Pick<Access, 'baseUrl' | 'caFile'> {
  demo: boolean
  say: (line: string) => void
}

/**
 * Makes a service where there is none yet: the demo, or one for the back office that the environment names. Where an earlier start has made
 * one, it says where the access to that is. Undefined: it, or its account, is gone.
 */
export async function prepareAccess(
  config: Config,
  installation: Installation,
  offices: BackOffices,
  { demo, say, baseUrl, caFile }: Preparing,
): Promise<ToldAccess | undefined> {
  const { db, keys } = installation
  const file = resolve(config.dataDir, 'access.json')
  const services = await listAllServices(db)
  const isOwn = config.backOffice === ours
  const name = isOwn ? demoName : firstName
  const here = { baseUrl, caFile: caFile && resolve(caFile) }
  let made: Access | undefined
  const keep = async (password: string | undefined) => {
    if (password === undefined) return
    made = { baseUrl, username: name, password, serviceName: name, caFile: here.caFile }
    await writeAccess(file, made)
  }
  if (demo && isOwn && services.every(({ name }) => name === unfinished(demoName))) {
    if (!services.length) say('First start: making a demo shop, which takes some seconds.')
    // Where an earlier start was interrupted, nobody has seen the password.
    await keep((await makeDemo(installation, demoName, say)) ?? (await addPassword(db, keys, demoName)))
  }
  if (demo && !isOwn && services.every(service => offices.settingsOf(service).driver === ours)) {
    const first = await makeFirst(config, installation)
    await keep(first?.password)
    if (first) await firstSync(db, offices, first.service, say)
  }
  if (made) return { made }
  const isThere = (await listAllServices(db)).some(service => service.name === name) && (await accountExists(db, name))
  if (!isThere) return
  const known = await readAccess(file)
  const opened =
    typeof known?.password === 'string' && (await signIn(db, keys)(name, known.password, () => 'access.json'))
  if (!known || !(opened instanceof Map)) return { username: name }
  // A further process on this directory keeps the address of the one that serves. Where the database is bundled, this process is the only
  // one.
  if (installation.postgres || known.baseUrl === baseUrl || !(await isServed(known.baseUrl)))
    await writeAccess(file, { ...known, ...here })
  return { username: name, file }
}

/** What an earlier start has left; undefined where there is nothing. */
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

/** Whether anything listens at an address. */
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

/** A service for the back office of the environment, with an account. Undefined: another process has made it. */
async function makeFirst(config: Config, { db, keys }: Pick<Installation, 'db' | 'keys'>) {
  const timeZone = config.backOfficeTimeZone
  return db.transaction(async tx => {
    const service = await addService(tx, firstName, timeZone === undefined ? {} : { timeZone })
    return service && { service, password: await addAccount(tx, keys, firstName, service, 'admin') }
  })
}

/** The name of a demo service until it is whole: one that was interrupted is found by it, and finished. */
const unfinished = (name: string) => `${name} (being made)`

/** Makes a service with a demo shop, and an account of the same name that is its admin. Returns the password of a new account. */
export async function makeDemo(
  { db, keys }: Pick<Installation, 'db' | 'keys'>,
  name: string,
  say: (line: string) => void,
) {
  const services = await listAllServices(db)
  if (services.some(service => service.name === name)) throw new Error(`Service ${name} exists already.`)
  const service =
    (await addService(db, unfinished(name), demoSettings)) ??
    services.find(service => service.name === unfinished(name))
  if (!service) throw new Error(`The service ${name} is being made by another process.`)
  // Its data is made up: whatever the environment says, no other back office is behind it.
  await setBackOffice(db, keys, service, { driver: ours })
  await fillDemoShop(db, keys, service, say)
  const password = await addAccount(db, keys, name, service, 'admin')
  await renameService(db, service, name)
  return password
}

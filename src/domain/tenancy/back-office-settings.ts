import { isTimeZone } from '../values/time-zone.ts'

/** What stands behind a service, and how it is reached: the service's own, or the environment's for all that have none. */
export interface BackOfficeSettings {
  driver: DriverName
  /** The base of its API. */
  url?: string
  /** What it calls the country, or the web store. */
  country?: string
  user?: string
  password?: string
  /** Certificates (PEM) to trust. */
  ca?: string
  /** The zone of the head office; absent: the service's. */
  timeZone?: string
  /** The release, where it cannot be found out. */
  release?: string
  /** How many calls one process may have under way with it, as text. */
  concurrency?: string
  /** The folder that it writes its scheduled exports to: a path, or the address of one of an SFTP server. */
  exports?: string
  /** Fingerprints of the keys that the SFTP server may show, separated by commas: `SHA256:…`. */
  exportsHostKey?: string
  /** The path of a private key to sign in to it with; without one the password does. */
  exportsKey?: string
  /** The user's, or that of the private key. */
  exportsPassword?: string
  /** Seconds between two pulls of a feed, by its name, where it is not pulled as often as feeds are by themselves. */
  every?: Readonly<Record<string, number>>
  /** What it knows payment gateways by, by their names in `GET /payment-gateways`. */
  gateways?: Readonly<Record<string, Merchant>>
}

/** A payment gateway as a back office has it set up. */
export interface Merchant {
  /** `CreditCard` where it is absent; also what PayPal and Afterpay are. */
  origin?: (typeof paymentOrigins)[number]
  /** One of its sales payment gateways (SPayGate). Some kinds of gateway have to have one. */
  merchantId?: string
  /** The gateway's name where it is absent; a wallet's own for `AdyenWallet`. */
  cardType?: string
  accountId?: string
}

/** What a payment may be; vouchers are told apart from it. */
export const paymentOrigins = ['CreditCard', 'DirectDebit', 'Zip', 'AdyenWallet', 'Openpay'] as const

/** What has one value, and a name of its own in the environment. */
export type SettingName = Exclude<keyof BackOfficeSettings, 'every' | 'gateways'>

export const driverNames = ['embedded', 'apparel21'] as const
export type DriverName = (typeof driverNames)[number]
/** The driver of our own tables: nobody else stands behind the service. */
export const ours = 'embedded' satisfies DriverName

/** One text of the settings: what it is for, and what is wrong with a value of it. */
interface Field {
  why: string
  example: string
  /** What it has to be, where it is not. */
  unfit?: (text: string) => string | undefined
}

/** What is wrong with a text that may have so many characters. */
export const most =
  (characters: number) =>
  (text: string): string | undefined =>
    text.length > characters || /\p{Cc}/u.test(text)
      ? `has at most ${characters} characters, none of control`
      : undefined

/** The most calls that one process may have under way with a back office. */
const mostAtATime = 256

/** The texts that both the environment (`BACK_OFFICE_URL`) and `tillbridge back-office set` (`url=…`) take. */
export const backOfficeFields = {
  url: {
    why: "The base of the back office's API.",
    example: 'https://retail.example/RetailAPI/',
    unfit: text => (isBase(text) ? undefined : 'is an address like https://host/RetailAPI/, without a user or a query'),
  },
  country: {
    why: 'The code by which the back office knows the country, or the web store.',
    example: 'AU',
    unfit: most(50),
  },
  user: { why: 'The user to sign in to it as; without one nobody signs in.', example: 'retail', unfit: most(250) },
  timeZone: {
    why: "The head office's time zone, as the IANA names it. Without it: the service's.",
    example: 'Australia/Melbourne',
    unfit: text => (isTimeZone(text) ? undefined : 'is an IANA time zone'),
  },
  release: {
    why: 'The release of its API, where its page does not tell it.',
    example: '2022.1',
    unfit: text => (/^\d{4}\.\d{1,3}[a-z]?$/.test(text) ? undefined : 'is a release like 2022.1 or 2023.4a'),
  },
  concurrency: {
    why: 'How many calls of one process may be under way with it at a time, beside one that reads stock; more wait for a few seconds. 16 where nothing is set.',
    example: '16',
    unfit: text =>
      /^[1-9]\d{0,2}$/.test(text) && Number(text) <= mostAtATime ? undefined : `is a number from 1 to ${mostAtATime}`,
  },
  exports: {
    why: 'The folder that it leaves its exports in: customers_, orders_ and rewards_ files (CSV). A path, or the address of one of an SFTP server, without a password: sftp://user@host:22/folder (/~/folder: from the home on).',
    example: '/srv/exports/luma',
    unfit: text => (/^sftp:/i.test(text) ? unfitSftp(text) : text.startsWith('/') ? most(500)(text) : notExports),
  },
  exportsHostKey: {
    why: 'The fingerprint of the key that the SFTP server of the exports shows, as `ssh-keygen -lf` tells it; of several, separated by commas, any. A server that shows another one is sent nothing.',
    example: 'SHA256:uNiVztksCsDhcc0u9e8BrJQn8rgGRjBOmWmJQ2AxQfE',
    unfit: text =>
      text.split(',').every(each => /^\s*SHA256:[A-Za-z0-9+/]{43}=?\s*$/.test(each))
        ? most(500)(text)
        : 'is one or more fingerprints like SHA256: and 43 characters, separated by commas',
  },
  exportsKey: {
    why: 'The file of a private key (OpenSSH or PEM) to sign in to that SFTP server with, instead of a password.',
    example: '/etc/tillbridge/exports_key',
    unfit: text => (text.startsWith('/') ? most(500)(text) : 'is the whole path of a file, from / on'),
  },
} as const satisfies Record<string, Field>
export type BackOfficeField = keyof typeof backOfficeFields

export const unfitFor = (name: BackOfficeField, text: string): string | undefined =>
  (backOfficeFields[name] as Field).unfit?.(text)

function isBase(text: string) {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false
  const { username, password, search, hash } = new URL(text)
  return username + password + search + hash === '' && text.length <= 500
}

const notExports = 'is the whole path of a folder, from / on, or an address like sftp://user@host:22/folder'

/** A folder of an SFTP server. */
export interface SftpAddress {
  user: string
  host: string
  port: number
  /** From `/` on, or from `../` on where it is within the user's home. */
  path: string
}

/** What `sftp://user@host:22/folder` says; undefined where a text is no such address. */
export function sftpAddressIn(text: string): SftpAddress | undefined {
  if (!/^sftp:\/\/[^/?#:@]+@[^/?#@]+(\/[^?#]*)?$/i.test(text) || !URL.canParse(text)) return
  const { username, hostname, port, pathname } = new URL(text)
  try {
    const [user, path] = [username, pathname].map(decodeURIComponent) as [string, string]
    const folder = path.replace(/\/+$/, '').replace(/^\/~(?=\/|$)/, '.') || '/'
    return { user, host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 22), path: folder }
  } catch {
    return
  }
}

function unfitSftp(text: string) {
  if (/^sftp:\/\/[^/@]*:.*@/i.test(text))
    return 'has no password in it: that is given by `back-office set … --exports-password-file`, or BACK_OFFICE_EXPORTS_PASSWORD'
  const address = sftpAddressIn(text)
  return address ? most(500)(text + address.user + address.path) : notExports
}

/** What does not go together, a sentence each. `named` says what whoever set it calls a setting. */
export function contradictionsIn(
  { driver, every: _, gateways: __, ...given }: BackOfficeSettings,
  named: (name: SettingName) => string,
): string[] {
  const faults: string[] = []
  const names = (Object.keys(given) as (keyof typeof given)[]).filter(name => given[name] !== undefined)
  if (driver === ours) {
    if (names.length)
      faults.push(
        `${names.map(named).join(', ')}: nothing of the embedded back office; ${named('driver')}=apparel21 is missing.`,
      )
    return faults
  }
  for (const name of ['url', 'country'] as const)
    if (given[name] === undefined) faults.push(`${named(name)} is needed where ${named('driver')} is ${driver}.`)
  if ((given.user === undefined) !== (given.password === undefined))
    faults.push(`${named('user')} and ${named('password')} are set together, or neither.`)
  faults.push(...exportsFaults(given, named))
  if (given.user?.includes(':')) faults.push(`${named('user')} has no colon: Basic authentication cannot carry one.`)
  return faults
}

function exportsFaults(
  { exports, exportsHostKey, exportsKey, exportsPassword }: Partial<BackOfficeSettings>,
  named: (name: SettingName) => string,
): string[] {
  const parts = { exportsHostKey, exportsKey, exportsPassword }
  const set = (Object.keys(parts) as (keyof typeof parts)[]).filter(name => parts[name] !== undefined)
  if (exports === undefined || !sftpAddressIn(exports))
    return set.length
      ? [`${set.map(named).join(', ')}: nothing but an SFTP server in ${named('exports')} needs that.`]
      : []
  const faults: string[] = []
  if (exportsHostKey === undefined)
    faults.push(
      `${named('exportsHostKey')} is needed: the fingerprint of the SFTP server's key (SHA256:…). Its administrator knows it: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub.`,
    )
  if (exportsKey === undefined && exportsPassword === undefined)
    faults.push(`${named('exportsPassword')} or ${named('exportsKey')} is needed to sign in to the SFTP server.`)
  return faults
}

import { isTimeZone } from '../values/time-zone.ts'

/** The connection to a service's back office: its own, or the environment's default. */
export interface BackOfficeSettings {
  driver: DriverName
  /** The base URL of its API. */
  url?: string
  /** The back office's code of the country or web store. */
  country?: string
  user?: string
  password?: string
  /** CA certificates (PEM) to trust. */
  ca?: string
  /** The back office's time zone. Default: the service's. */
  timeZone?: string
  /** Its version, if it can't be detected. */
  version?: string
  /** The maximum concurrent calls of one process, as a string. */
  concurrency?: string
  /** The percentage of the concurrent calls that syncs can use, as a string. */
  syncShare?: string
  /** The folder of its scheduled exports: a path, or the URL of a folder on an SFTP server. */
  exportFolder?: string
  /** Accepted host key fingerprints of the SFTP server, separated by commas: `SHA256:…`. */
  sftpHostKey?: string
  /** The path of a private key for the SFTP server. If absent, the password is used. */
  sftpKeyFile?: string
  /** The password of the SFTP user, or of the private key. */
  sftpPassword?: string
  /** Seconds between two syncs, by sync name, if they differ from the sync's default. */
  syncIntervals?: Readonly<Record<string, number>>
  /** How the back office identifies payment gateways, by their names in `GET /payment-gateways`. */
  gateways?: Readonly<Record<string, Merchant>>
}

/** A payment gateway as it is configured in a back office. */
export interface Merchant {
  /** Default: `CreditCard`, which includes PayPal and Afterpay. */
  origin?: (typeof paymentOrigins)[number]
  /** One of the back office's sales payment gateways (SPayGate). Some gateway types require it. */
  merchantId?: string
  /** Default: the gateway's name, or the wallet's name for `AdyenWallet`. */
  cardType?: string
  accountId?: string
}

/** The payment origins that the back office accepts, apart from vouchers. */
export const paymentOrigins = ['CreditCard', 'DirectDebit', 'Zip', 'AdyenWallet', 'Openpay'] as const

/** Settings with a single value and an environment variable. */
export type SettingName = Exclude<keyof BackOfficeSettings, 'syncIntervals' | 'gateways'>

export const driverNames = ['embedded', 'apparel21'] as const
export type DriverName = (typeof driverNames)[number]
/** The driver of the embedded back office: the records are in Tillbridge's own tables. */
export const embeddedName = 'embedded' satisfies DriverName

/** One setting: its description, an example and its validation. */
interface Field {
  description: string
  example: string
  /** Returns what the value must be, to follow the setting's name, or undefined if the value is valid. */
  findProblem?: (value: string) => string | undefined
}

/** Returns a validator for a string with at most `max` characters and no control characters. */
export const maxCharacters =
  (max: number) =>
  (value: string): string | undefined =>
    value.length > max || /\p{Cc}/u.test(value)
      ? `must have at most ${max} characters and can't contain control characters`
      : undefined

/** The upper limit of `concurrency`. */
const maxConcurrency = 256

/** The settings that both the environment (`BACK_OFFICE_URL`) and `tillbridge back-office set` (`url=…`) accept. */
export const backOfficeFields = {
  url: {
    description: "The base URL of the back office's API.",
    example: 'https://retail.example/RetailAPI/',
    findProblem: value =>
      isBaseUrl(value) ? undefined : 'must be a URL such as https://host/RetailAPI/, without a user, password or query',
  },
  country: {
    description: "The back office's code of the country or web store.",
    example: 'AU',
    findProblem: maxCharacters(50),
  },
  user: {
    description: 'The user to sign in as. If unset, Tillbridge sends no credentials.',
    example: 'retail',
    findProblem: maxCharacters(250),
  },
  timeZone: {
    description: "The back office's IANA time zone. Default: the service's.",
    example: 'Australia/Melbourne',
    findProblem: value => (isTimeZone(value) ? undefined : 'must be an IANA time zone'),
  },
  version: {
    description: "The back office's version, if its API doesn't report it.",
    example: '2022.1',
    findProblem: value =>
      /^\d{4}\.\d{1,3}[a-z]?$/.test(value) ? undefined : 'must be a version such as 2022.1 or 2023.4a',
  },
  concurrency: {
    description:
      'Maximum concurrent calls per process, plus one for stock. Further calls wait for a few seconds. Default: 16.',
    example: '16',
    findProblem: value =>
      /^[1-9]\d{0,2}$/.test(value) && Number(value) <= maxConcurrency
        ? undefined
        : `must be an integer from 1 to ${maxConcurrency}`,
  },
  syncShare: {
    description:
      'Percentage of the concurrent calls that syncs can use, at least one call. The rest stays free for API requests. Default: 50.',
    example: '50',
    findProblem: value =>
      /^[1-9]\d{0,2}$/.test(value) && Number(value) <= 100 ? undefined : 'must be an integer from 1 to 100',
  },
  exportFolder: {
    description:
      "The folder of the back office's scheduled exports (customers_, orders_ and rewards_ CSV files). A path, or an SFTP URL without a password: sftp://user@host:22/folder (/~/folder is relative to the home directory).",
    example: '/srv/exports/luma',
    findProblem: value =>
      /^sftp:/i.test(value) ? findSftpProblem(value) : value.startsWith('/') ? maxCharacters(500)(value) : notAFolder,
  },
  sftpHostKey: {
    description:
      "The fingerprint of the SFTP server's host key, as `ssh-keygen -lf` prints it. Separate several with commas. Tillbridge sends nothing to a server with another key.",
    example: 'SHA256:uNiVztksCsDhcc0u9e8BrJQn8rgGRjBOmWmJQ2AxQfE',
    findProblem: value =>
      value.split(',').every(fingerprint => /^\s*SHA256:[A-Za-z0-9+/]{43}=?\s*$/.test(fingerprint))
        ? maxCharacters(500)(value)
        : 'must be one or more fingerprints (SHA256: and 43 characters), separated by commas',
  },
  sftpKeyFile: {
    description: 'A private key file (OpenSSH or PEM) to sign in to the SFTP server with, instead of a password.',
    example: '/etc/tillbridge/exports_key',
    findProblem: value => (value.startsWith('/') ? maxCharacters(500)(value) : 'must be an absolute path'),
  },
} as const satisfies Record<string, Field>
export type BackOfficeField = keyof typeof backOfficeFields

/** Returns what a setting must be, to follow its name, or undefined if the value is valid. */
export const findProblem = (name: BackOfficeField, value: string): string | undefined =>
  (backOfficeFields[name] as Field).findProblem?.(value)

function isBaseUrl(value: string) {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return false
  const { username, password, search, hash } = new URL(value)
  return username + password + search + hash === '' && value.length <= 500
}

const notAFolder = 'must be an absolute path, or a URL such as sftp://user@host:22/folder'

/** A folder on an SFTP server. */
export interface SftpAddress {
  user: string
  host: string
  port: number
  /** Absolute, or relative to the user's home directory (`./…`). */
  path: string
}

/** Parses `sftp://user@host:22/folder`. Returns undefined if it isn't such a URL. */
export function parseSftpAddress(value: string): SftpAddress | undefined {
  if (!/^sftp:\/\/[^/?#:@]+@[^/?#@]+(\/[^?#]*)?$/i.test(value) || !URL.canParse(value)) return
  const { username, hostname, port, pathname } = new URL(value)
  try {
    const [user, path] = [username, pathname].map(decodeURIComponent) as [string, string]
    const folder = path.replace(/\/+$/, '').replace(/^\/~(?=\/|$)/, '.') || '/'
    return { user, host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 22), path: folder }
  } catch {
    return
  }
}

function findSftpProblem(value: string) {
  if (/^sftp:\/\/[^/:@]*:.*@/i.test(value))
    return "can't contain a password: use `back-office set … --sftp-password-file`, or BACK_OFFICE_SFTP_PASSWORD"
  const address = parseSftpAddress(value)
  return address ? maxCharacters(500)(value + address.user + address.path) : notAFolder
}

/** Returns one sentence per contradiction between settings. `getName` returns a setting's name as the user wrote it. */
export function findContradictions(
  { driver, syncIntervals: _, gateways: __, ...settings }: BackOfficeSettings,
  getName: (name: SettingName) => string,
): string[] {
  const problems: string[] = []
  const names = (Object.keys(settings) as (keyof typeof settings)[]).filter(name => settings[name] !== undefined)
  if (driver === embeddedName) {
    if (names.length)
      problems.push(
        `${names.map(getName).join(', ')} can't be set for the embedded back office. Set ${getName('driver')}=apparel21 too.`,
      )
    return problems
  }
  for (const name of ['url', 'country'] as const)
    if (settings[name] === undefined)
      problems.push(`${getName(name)} must be set if ${getName('driver')} is ${driver}.`)
  if ((settings.user === undefined) !== (settings.password === undefined))
    problems.push(`${getName('user')} and ${getName('password')} must be set together.`)
  problems.push(...findExportContradictions(settings, getName))
  if (settings.user?.includes(':'))
    problems.push(`${getName('user')} can't contain a colon: Basic authentication doesn't allow it.`)
  return problems
}

function findExportContradictions(
  { exportFolder, sftpHostKey, sftpKeyFile, sftpPassword }: Partial<BackOfficeSettings>,
  getName: (name: SettingName) => string,
): string[] {
  const sftpSettings = { sftpHostKey, sftpKeyFile, sftpPassword }
  const names = (Object.keys(sftpSettings) as (keyof typeof sftpSettings)[]).filter(
    name => sftpSettings[name] !== undefined,
  )
  if (exportFolder === undefined || !parseSftpAddress(exportFolder))
    return names.length
      ? [`${names.map(getName).join(', ')} can't be set unless ${getName('exportFolder')} is an SFTP URL.`]
      : []
  const problems: string[] = []
  if (sftpHostKey === undefined)
    problems.push(
      `${getName('sftpHostKey')} must be set to the fingerprint of the SFTP server's host key (SHA256:…). Its administrator can print it: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub.`,
    )
  if (sftpKeyFile === undefined && sftpPassword === undefined)
    problems.push(`${getName('sftpPassword')} or ${getName('sftpKeyFile')} must be set to sign in to the SFTP server.`)
  return problems
}

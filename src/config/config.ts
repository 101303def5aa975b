import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { cpus } from 'node:os'
import {
  type BackOfficeField,
  type BackOfficeSettings,
  backOfficeFields,
  contradictionsIn,
  driverNames,
  ours,
  type SettingName,
  unfitFor,
} from '../domain/tenancy/back-office-settings.ts'
import { failpoints } from '../testing/failpoints.ts'
import { databaseSettings } from './database.ts'
import {
  file,
  isSmtpUrl,
  networks,
  oneOf,
  optional,
  port,
  type Setting,
  text,
  Unfit,
  whole,
  withEnvFile,
} from './parsers.ts'
import { telemetrySettings } from './telemetry.ts'

const office = (name: BackOfficeField): Setting<string | undefined> => ({
  ...backOfficeFields[name],
  read(given) {
    const unfit = given === undefined ? undefined : unfitFor(name, given)
    if (unfit !== undefined) throw new Unfit(unfit)
    return given
  },
})

/** What is not repeated in what is said of it: secrets, and addresses with a password in them. */
const secret = [
  'SECRET_KEY',
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'SMTP_URL',
  'BACK_OFFICE_URL',
  'BACK_OFFICE_PASSWORD',
  'BACK_OFFICE_EXPORTS',
  'OTEL_EXPORTER_OTLP_HEADERS',
]

/** Every setting, by the name of its environment variable. `.env.example` is made from this table. */
export const table = {
  PORT: whole('The port that HTTPS is served on.', 8443, [0, 65_535]),
  HOST: {
    why: 'The address that is listened on; 0.0.0.0 for all.',
    example: '127.0.0.1',
    read(given: string | undefined) {
      if (given !== undefined && !isIP(given)) throw new Unfit('is an IP address')
      return given ?? '127.0.0.1'
    },
  } satisfies Setting<string>,
  PLAIN_PORT: port(
    'A port that answers plain HTTP with 403 `https_required`, never with data. Without it nothing listens.',
    '8080',
  ),
  PUBLIC_URL: {
    why: 'The address that callers know this installation by; errors point to pages under it. Without it: https://localhost:<PORT>.',
    example: 'https://api.example.com',
    read(given: string | undefined) {
      if (given === undefined) return
      if (!URL.canParse(given) || new URL(given).protocol !== 'https:')
        throw new Unfit('is an address that begins with https://')
      return given.replace(/\/+$/, '')
    },
  } satisfies Setting<string | undefined>,
  TRUSTED_PROXIES: networks(
    'Addresses or networks of the proxies whose X-Forwarded-* headers count, separated by commas. Without it they are ignored.',
    '10.0.0.5,10.1.0.0/16',
  ),
  TLS_CERT_FILE: file(
    'The certificate chain (PEM); read again when it changes. Without it a local CA and certificate are made under DATA_DIR.',
    '/etc/tillbridge/cert.pem',
  ),
  TLS_KEY_FILE: file('The private key of that certificate (PEM).', '/etc/tillbridge/key.pem'),
  HTTP2: oneOf('Whether HTTP/2 is offered beside HTTP/1.1.', 'off', ['off', 'on']),
  WORKERS: whole('How many processes serve requests.', 1, [1, Math.max(64, cpus().length)]),
  ...databaseSettings,
  DATA_DIR: text('Where the bundled database, the certificates and the secret live.', '.data'),
  SECRET_KEY: {
    why: 'What passwords and cursors are keyed with: 32 bytes or more, the same for every process, kept apart from the database. Without it one is made in DATA_DIR/secret.',
    example: 'the output of: openssl rand -hex 32',
    read(given: string | undefined) {
      // Examples say in words what belongs there.
      if (given !== undefined && /\s/.test(given))
        throw new Unfit('has no blanks in it: it is what openssl rand -hex 32 prints')
      if (given !== undefined && given.length < 32) throw new Unfit('has at least 32 characters')
      return given
    },
  } satisfies Setting<string | undefined>,
  SMTP_URL: {
    why: 'The mail server: smtp:// (with STARTTLS, unless it is this machine or ?tls=off) or smtps://, with user and password. Without it e-mails are left in DATA_DIR/mail.',
    example: 'smtp://user:password@mail.example.com:587',
    read(given: string | undefined) {
      if (given !== undefined && !isSmtpUrl(given))
        throw new Unfit('is an address like smtp://user:password@host:587 or smtps://host, perhaps with ?tls=off')
      return given
    },
  } satisfies Setting<string | undefined>,
  BACK_OFFICE: oneOf(
    'What stands behind every service that `tillbridge back-office` says nothing else of.',
    ours,
    driverNames,
  ),
  BACK_OFFICE_URL: office('url'),
  BACK_OFFICE_COUNTRY: office('country'),
  BACK_OFFICE_USER: office('user'),
  BACK_OFFICE_PASSWORD: optional('The password of that user.', 'secret'),
  BACK_OFFICE_CA_FILE: file(
    'Certificates (PEM) to trust it by, instead of the usual ones.',
    '/etc/tillbridge/retail-ca.pem',
  ),
  BACK_OFFICE_TIME_ZONE: office('timeZone'),
  BACK_OFFICE_RELEASE: office('release'),
  BACK_OFFICE_CONCURRENCY: office('concurrency'),
  BACK_OFFICE_EXPORTS: office('exports'),
  BACK_OFFICE_EXPORTS_HOST_KEY: office('exportsHostKey'),
  BACK_OFFICE_EXPORTS_KEY_FILE: office('exportsKey'),
  BACK_OFFICE_EXPORTS_PASSWORD: optional(
    'The password that signs in to that SFTP server, or that of the private key.',
    'secret',
  ),
  WEBHOOK_NETWORKS: networks(
    'For development only: networks that are not public and that webhooks are delivered to all the same, over `http` too, separated by commas.',
    '127.0.0.0/8,::1',
  ),
  JOBS: oneOf(
    'Whether `start` does jobs (e-mails and the like) too; `off` where `tillbridge worker` does them.',
    'on',
    ['on', 'off'],
  ),
  ...telemetrySettings,
  FAILPOINT: {
    why: 'For tests of crashes only: the border between two effects at which the process is killed, or halted with `:stop`, or something fails with `:fail`. Without it there are none.',
    example: 'after_commit',
    read(given: string | undefined) {
      const isKnown = (said: string) => failpoints.some(name => [name, `${name}:stop`, `${name}:fail`].includes(said))
      if (given !== undefined && !isKnown(given))
        throw new Unfit(`is one of ${failpoints.join(', ')}, with or without \`:stop\` or \`:fail\``)
      return given
    },
  } satisfies Setting<string | undefined>,
  LEAVE_SECONDS: whole(
    'How long after SIGTERM requests are still taken while /health/ready says 503: as long as a load balancer needs to send them elsewhere. 0 where there is none.',
    0,
    [0, 600],
  ),
  DRAIN_SECONDS: whole('How long requests may go on after SIGTERM or Ctrl-C.', 25, [0, 600]),
} as const

type Table = typeof table
type Values = { [Name in keyof Table]: ReturnType<Table[Name]['read']> }
type CamelCase<S extends string> = S extends `${infer Head}_${infer Rest}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<S>
/** The settings in camelCase: `PORT` is `port`, `TLS_CERT_FILE` is `tlsCertFile`. */
export type Config = { readonly [Name in keyof Values as CamelCase<Name>]: Values[Name] }

/** Every fault of the settings at once, a line each. */
export class ConfigError extends Error {}

/** Reads the settings: the environment first, then `.env` in the current directory. Throws a `ConfigError` naming every fault. */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>> = withEnvFile(process.env),
): Config {
  const faults: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(table)) {
    const given = environment[name]?.trim() || undefined
    try {
      values[camelCase(name)] = setting.read(given)
    } catch (error) {
      if (!(error instanceof Unfit)) throw error
      faults.push(`${name} ${error.message}${secret.includes(name) ? '' : `, not ${JSON.stringify(given)}`}.`)
    }
  }
  const config = values as unknown as Config
  if (Boolean(environment.TLS_CERT_FILE?.trim()) !== Boolean(environment.TLS_KEY_FILE?.trim()))
    faults.push('TLS_CERT_FILE and TLS_KEY_FILE are set together, or neither.')
  if (environment.DATABASE_READ_URL?.trim() && !environment.DATABASE_URL?.trim())
    faults.push('DATABASE_READ_URL names replicas of the PostgreSQL that DATABASE_URL names: set both.')
  if (!faults.length) faults.push(...contradictionsIn(backOfficeOf(config), name => environmentNames[name]))
  if (faults.length) throw new ConfigError(faults.join('\n'))
  return Object.freeze(config)
}

const environmentNames: Readonly<Record<SettingName, string>> = {
  driver: 'BACK_OFFICE',
  url: 'BACK_OFFICE_URL',
  country: 'BACK_OFFICE_COUNTRY',
  user: 'BACK_OFFICE_USER',
  password: 'BACK_OFFICE_PASSWORD',
  ca: 'BACK_OFFICE_CA_FILE',
  timeZone: 'BACK_OFFICE_TIME_ZONE',
  release: 'BACK_OFFICE_RELEASE',
  concurrency: 'BACK_OFFICE_CONCURRENCY',
  exports: 'BACK_OFFICE_EXPORTS',
  exportsHostKey: 'BACK_OFFICE_EXPORTS_HOST_KEY',
  exportsKey: 'BACK_OFFICE_EXPORTS_KEY_FILE',
  exportsPassword: 'BACK_OFFICE_EXPORTS_PASSWORD',
}

function certificatesIn(path: string) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError(`BACK_OFFICE_CA_FILE cannot be read: ${(error as NodeJS.ErrnoException).code}.`)
  }
}

/** What the environment says of the back office. */
export function backOfficeOf(config: Config): BackOfficeSettings {
  const set = Object.entries(environmentNames).flatMap(([name, variable]) => {
    const value = config[camelCase(variable) as keyof Config]
    return value === undefined ? [] : [[name, value] as const]
  })
  const settings = Object.fromEntries(set) as unknown as BackOfficeSettings
  return settings.ca === undefined ? settings : { ...settings, ca: certificatesIn(settings.ca) }
}

const camelCase = (name: string) => name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** `.env.example`: each setting with its reason, commented out. */
export const envExample = () =>
  `# Every setting, its reason, and its default or an example. Copy to .env and take the # from what you set.\n${Object.entries(
    table,
  )
    .map(([name, { why, example }]) => `\n# ${why}\n#${name}=${example}\n`)
    .join('')}`

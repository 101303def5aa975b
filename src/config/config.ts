import { existsSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { isAbsolute, join } from 'node:path'
import {
  type BackOfficeField,
  type BackOfficeSettings,
  backOfficeFields,
  driverNames,
  embeddedName,
  findContradictions,
  findProblem,
  type SettingName,
} from '../domain/tenancy/back-office-settings.ts'
import { failpoints } from '../testing/failpoints.ts'
import { backupSettings, findBackupContradictions } from './backup.ts'
import { databaseSettings } from './database.ts'
import { findIdentityProviderContradictions, identityProviderSettings } from './identity-provider.ts'
import {
  boolean,
  file,
  InvalidSetting,
  integer,
  ipAddress,
  isSmtpUrl,
  networks,
  oneOf,
  optional,
  port,
  type Setting,
  string,
  withEnvFile,
} from './parsers.ts'
import { telemetrySettings } from './telemetry.ts'

const buildBackOfficeSetting = (name: BackOfficeField): Setting<string | undefined> => ({
  ...backOfficeFields[name],
  read(value) {
    const problem = value === undefined ? undefined : findProblem(name, value)
    if (problem !== undefined) throw new InvalidSetting(problem)
    return value
  },
})

/**
 * Settings whose value is never repeated in a message: secrets, and URLs that can contain a password. Each has a variant `…_FILE`, which names
 * a file with the value.
 */
export const secretSettings: readonly string[] = [
  'SECRET_KEY',
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'BACKUP_SFTP_PASSWORD',
  'BACKUP_S3_SECRET_KEY',
  'OIDC_CLIENT_SECRET',
  'SMTP_URL',
  'BACK_OFFICE_URL',
  'BACK_OFFICE_PASSWORD',
  'BACK_OFFICE_EXPORT_FOLDER',
  'BACK_OFFICE_SFTP_PASSWORD',
  'OTEL_EXPORTER_OTLP_HEADERS',
]

const minSecretLength = 32

/** Every setting, by the name of its environment variable. `.env.example` is generated from this table. */
export const settings = {
  PORT: integer('The port that serves HTTPS.', 8443, [0, 65_535]),
  HOST: ipAddress('The IP address to listen on. 0.0.0.0 listens on all interfaces.', '127.0.0.1'),
  PLAIN_PORT: port(
    'A plain HTTP port that answers every request with 403 `https_required`, never with data. If unset, no plain port is open.',
    '8080',
  ),
  PUBLIC_URL: {
    description:
      'The URL under which clients reach this installation. Errors link to pages under it. Default: https://localhost:<PORT>.',
    example: 'https://api.example.com',
    read(value: string | undefined) {
      if (value === undefined) return
      if (!URL.canParse(value) || new URL(value).protocol !== 'https:')
        throw new InvalidSetting('must be a URL that begins with https://')
      return value.replace(/\/+$/, '')
    },
  } satisfies Setting<string | undefined>,
  TRUSTED_PROXIES: networks(
    'IP addresses or networks of trusted proxies, separated by commas. X-Forwarded-* headers from any other address are ignored.',
    '10.0.0.5,10.1.0.0/16',
  ),
  TLS_CERT_FILE: file(
    'The certificate chain (PEM). Tillbridge reloads it when it changes. If unset, it creates a local CA and certificate under DATA_DIR.',
    '/etc/tillbridge/cert.pem',
  ),
  TLS_KEY_FILE: file('The private key of that certificate (PEM).', '/etc/tillbridge/key.pem'),
  HTTP2: boolean('Offer HTTP/2 in addition to HTTP/1.1.', false),
  WEB_CONCURRENCY: integer('Number of processes that serve requests.', 1, [1, Math.max(64, cpus().length)]),
  MAX_MEMORY_MIB: integer(
    'Memory in MiB that one process can use. 40 % of it is for connections and unread responses: beyond that, Tillbridge closes the connections that read slowest.',
    1_024,
    [450, 1_048_576],
  ),
  ...databaseSettings,
  DATA_DIR: string('The directory of the bundled database, the certificates and the secret key.', '.data'),
  POSTGRES_BIN_DIR: {
    description:
      'Without DATABASE_URL: the directory of the PostgreSQL programs to run (`postgres`, `initdb`; 15 to 18). `auto` runs an installed PostgreSQL of a supported major version that fits the data, otherwise the bundled one. `bundled` always runs the bundled one, which is for evaluation.',
    example: 'auto',
    read(value = 'auto') {
      if (value === 'auto' || value === 'bundled') return value
      const missing = ['postgres', 'initdb'].filter(name => !existsSync(join(value, name)))
      if (!isAbsolute(value) || missing.length)
        throw new InvalidSetting('must be auto, bundled, or the absolute path of a directory with postgres and initdb')
      return value
    },
  } satisfies Setting<string>,
  SECRET_KEY: {
    description:
      'The key that protects passwords and cursors: at least 32 characters, the same in every process, stored apart from the database. During a rotation, several keys separated by commas, the newest first. If unset, Tillbridge creates one in DATA_DIR/secret.',
    example: 'the output of: openssl rand -hex 32',
    read(value: string | undefined) {
      if (value === undefined) return
      // The example contains whitespace: it must not become a key.
      if (/\s/.test(value)) throw new InvalidSetting("can't contain whitespace: use the output of openssl rand -hex 32")
      const shortest = Math.min(...value.split(',').map(({ length }) => length))
      if (shortest < minSecretLength)
        throw new InvalidSetting(`must have at least ${minSecretLength} characters; it has ${shortest}`)
      return value
    },
  } satisfies Setting<string | undefined>,
  ...identityProviderSettings,
  ...backupSettings,
  SMTP_URL: {
    description:
      'The mail server: smtp:// (with STARTTLS, unless it is on this machine or ?tls=off is set) or smtps://, with user and password. If unset, emails are written to DATA_DIR/mail.',
    example: 'smtp://user:password@mail.example.com:587',
    read(value: string | undefined) {
      if (value !== undefined && !isSmtpUrl(value))
        throw new InvalidSetting(
          'must be a URL such as smtp://user:password@host:587 or smtps://host, optionally with ?tls=off',
        )
      return value
    },
  } satisfies Setting<string | undefined>,
  BACK_OFFICE: oneOf(
    'The default back office: it applies to every service without a connection set by `tillbridge back-office set`.',
    embeddedName,
    driverNames,
  ),
  BACK_OFFICE_URL: buildBackOfficeSetting('url'),
  BACK_OFFICE_COUNTRY: buildBackOfficeSetting('country'),
  BACK_OFFICE_USER: buildBackOfficeSetting('user'),
  BACK_OFFICE_PASSWORD: optional('The password of that user.', 'secret'),
  BACK_OFFICE_CA_FILE: file("CA certificates (PEM) to trust instead of the system's.", '/etc/tillbridge/retail-ca.pem'),
  BACK_OFFICE_TIME_ZONE: buildBackOfficeSetting('timeZone'),
  BACK_OFFICE_VERSION: buildBackOfficeSetting('version'),
  BACK_OFFICE_CONCURRENCY: buildBackOfficeSetting('concurrency'),
  BACK_OFFICE_SYNC_SHARE: buildBackOfficeSetting('syncShare'),
  BACK_OFFICE_EXPORT_FOLDER: buildBackOfficeSetting('exportFolder'),
  BACK_OFFICE_SFTP_HOST_KEY: buildBackOfficeSetting('sftpHostKey'),
  BACK_OFFICE_SFTP_KEY_FILE: buildBackOfficeSetting('sftpKeyFile'),
  BACK_OFFICE_SFTP_PASSWORD: optional('The password of the SFTP user, or of the private key.', 'secret'),
  WEBHOOK_NETWORKS: networks(
    'Development only: private networks that webhooks can be delivered to, also over `http`, separated by commas.',
    '127.0.0.0/8,::1',
  ),
  RUN_JOBS: boolean(
    'Run background jobs (emails, syncs, webhooks) in `tillbridge start`. Set to `false` if `tillbridge worker` runs them.',
    true,
  ),
  ...telemetrySettings,
  FAILPOINT: {
    description:
      'Crash tests only: the crash point at which the process is killed, or halted with `:stop`, or throws with `:fail`.',
    example: 'after_commit',
    read(value: string | undefined) {
      const isKnown = (setting: string) =>
        failpoints.some(name => [name, `${name}:stop`, `${name}:fail`].includes(setting))
      if (value !== undefined && !isKnown(value))
        throw new InvalidSetting(`must be one of ${failpoints.join(', ')}, optionally with \`:stop\` or \`:fail\``)
      return value
    },
  } satisfies Setting<string | undefined>,
  SHUTDOWN_DELAY_SECONDS: integer(
    'Seconds after SIGTERM during which requests are still accepted while /health/ready returns 503, so that a load balancer stops sending them. 0 without a load balancer.',
    0,
    [0, 600],
  ),
  DRAIN_SECONDS: integer('Maximum seconds to finish running requests after SIGTERM or Ctrl-C.', 25, [0, 600]),
} as const

type Table = typeof settings
type Values = { [Name in keyof Table]: ReturnType<Table[Name]['read']> }
type CamelCase<S extends string> = S extends `${infer Head}_${infer Rest}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<S>
/** The settings in camelCase: `PORT` is `port`, `TLS_CERT_FILE` is `tlsCertFile`. */
export type Config = { readonly [Name in keyof Values as CamelCase<Name>]: Values[Name] }

/** Thrown for invalid settings. The message has one line per problem. */
export class ConfigError extends Error {}

/** Reads the settings: from the environment first, then from `.env` in the current directory. Throws a `ConfigError` that lists every problem. */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>> = withEnvFile(process.env),
): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    let value: string | undefined
    try {
      value = readValue(environment, name)
      values[toCamelCase(name)] = setting.read(value)
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error
      problems.push(
        `${name} ${error.message}${secretSettings.includes(name) ? '' : `; it is ${JSON.stringify(value)}`}.`,
      )
    }
  }
  const config = values as unknown as Config
  if (Boolean(environment.TLS_CERT_FILE?.trim()) !== Boolean(environment.TLS_KEY_FILE?.trim()))
    problems.push('TLS_CERT_FILE and TLS_KEY_FILE must be set together.')
  if (isSet(environment, 'DATABASE_READ_URL') && !isSet(environment, 'DATABASE_URL'))
    problems.push("DATABASE_READ_URL can't be set without DATABASE_URL, the primary of these replicas.")
  for (const [name, exporter] of [
    ['OTEL_METRICS_EXPORTER', config.otelMetricsExporter],
    ['OTEL_LOGS_EXPORTER', config.otelLogsExporter],
  ])
    if (exporter === 'otlp' && !isSet(environment, 'OTEL_EXPORTER_OTLP_ENDPOINT'))
      problems.push(`${name}=otlp requires OTEL_EXPORTER_OTLP_ENDPOINT, the URL of the collector.`)
  if (!problems.length)
    problems.push(
      ...findContradictions(getBackOfficeSettings(config), name => environmentNames[name]),
      ...findBackupContradictions(config),
      ...findIdentityProviderContradictions(config),
    )
  if (problems.length) throw new ConfigError(problems.join('\n'))
  return Object.freeze(config)
}

/** Returns the value of a variable, or the content of the file that its variant `…_FILE` names. */
function readValue(environment: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const value = environment[name]?.trim() || undefined
  const path = secretSettings.includes(name) ? environment[`${name}_FILE`]?.trim() : undefined
  if (!path) return value
  if (value !== undefined) throw new InvalidSetting(`and ${name}_FILE can't both be set`)
  try {
    return readFileSync(path, 'utf8').trim() || undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new InvalidSetting(
      `can't be read: ${name}_FILE must name a readable file (${code}); it is ${JSON.stringify(path)}`,
    )
  }
}

/** Returns true if a setting has a value, in the environment or in a file. */
const isSet = (environment: Readonly<Record<string, string | undefined>>, name: string) =>
  Boolean(environment[name]?.trim() || environment[`${name}_FILE`]?.trim())

const environmentNames: Readonly<Record<SettingName, string>> = {
  driver: 'BACK_OFFICE',
  url: 'BACK_OFFICE_URL',
  country: 'BACK_OFFICE_COUNTRY',
  user: 'BACK_OFFICE_USER',
  password: 'BACK_OFFICE_PASSWORD',
  ca: 'BACK_OFFICE_CA_FILE',
  timeZone: 'BACK_OFFICE_TIME_ZONE',
  version: 'BACK_OFFICE_VERSION',
  concurrency: 'BACK_OFFICE_CONCURRENCY',
  syncShare: 'BACK_OFFICE_SYNC_SHARE',
  exportFolder: 'BACK_OFFICE_EXPORT_FOLDER',
  sftpHostKey: 'BACK_OFFICE_SFTP_HOST_KEY',
  sftpKeyFile: 'BACK_OFFICE_SFTP_KEY_FILE',
  sftpPassword: 'BACK_OFFICE_SFTP_PASSWORD',
}

function readCertificates(path: string) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError(`BACK_OFFICE_CA_FILE can't be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** Returns the default back office: the `BACK_OFFICE_…` settings of the environment. */
export function getBackOfficeSettings(config: Config): BackOfficeSettings {
  const entries = Object.entries(environmentNames).flatMap(([name, variable]) => {
    const value = config[toCamelCase(variable) as keyof Config]
    return value === undefined ? [] : [[name, value] as const]
  })
  const values = Object.fromEntries(entries) as unknown as BackOfficeSettings
  return values.ca === undefined ? values : { ...values, ca: readCertificates(values.ca) }
}

const toCamelCase = (name: string) => name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Explains the variants `…_FILE`, for `.env.example` and the documentation. */
export const describeSecretFiles = (format = (name: string) => name) =>
  `To read a secret from a file, append ${format('_FILE')} to the name, such as ${format('SECRET_KEY_FILE=/run/secrets/secret_key')}. These settings have it: ${secretSettings.map(format).join(', ')}.`

/** Returns the content of `.env.example`: every setting with its description, commented out. */
export const renderEnvExample = () =>
  `# All settings, each with its default or an example. Copy this file to .env and remove the # from the lines you change.\n# ${describeSecretFiles()}\n${Object.entries(
    settings,
  )
    .map(([name, { description, example }]) => `\n# ${description}\n#${name}=${example}\n`)
    .join('')}`

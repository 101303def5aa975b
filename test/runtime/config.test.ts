import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  type Config,
  ConfigError,
  readConfig,
  renderEnvExample,
  secretSettings,
  settings,
} from '../../src/config/config.ts'

const thisFile = fileURLToPath(import.meta.url)
const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')
const reference = readFileSync(new URL('../../docs/reference/environment.md', import.meta.url), 'utf8')

/** Returns the problems of the settings, one per line. */
function findProblems(environment: Record<string, string>): string[] {
  try {
    readConfig(environment)
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.message.split('\n')
  }
  return []
}

test('every setting has a default', () => {
  assert.deepEqual(readConfig({}), {
    port: 8443,
    host: '127.0.0.1',
    plainPort: undefined,
    publicUrl: undefined,
    trustedProxies: [],
    webhookNetworks: [],
    tlsCertFile: undefined,
    tlsKeyFile: undefined,
    http2: false,
    webConcurrency: 1,
    maxMemoryMib: 1_024,
    databaseUrl: undefined,
    databaseReadUrl: undefined,
    databasePool: 6,
    databasePooler: 'off',
    dataDir: '.data',
    postgresBinDir: 'auto',
    secretKey: undefined,
    oidcIssuer: undefined,
    oidcClientId: undefined,
    oidcClientSecret: undefined,
    oidcScopes: 'openid profile email',
    oidcUsernameClaim: 'email',
    oidcRolesClaim: 'groups',
    oidcRoles: undefined,
    oidcName: 'your identity provider',
    backupRecipients: undefined,
    backupStorage: undefined,
    backupIntervalHours: undefined,
    backupKeep: 14,
    backupSftpHostKey: undefined,
    backupSftpKeyFile: undefined,
    backupSftpPassword: undefined,
    backupS3Endpoint: undefined,
    backupS3Region: 'auto',
    backupS3AccessKey: undefined,
    backupS3SecretKey: undefined,
    smtpUrl: undefined,
    backOffice: 'embedded',
    backOfficeUrl: undefined,
    backOfficeCountry: undefined,
    backOfficeUser: undefined,
    backOfficePassword: undefined,
    backOfficeCaFile: undefined,
    backOfficeConcurrency: undefined,
    backOfficeSyncShare: undefined,
    backOfficeTimeZone: undefined,
    backOfficeVersion: undefined,
    backOfficeExportFolder: undefined,
    backOfficeSftpHostKey: undefined,
    backOfficeSftpKeyFile: undefined,
    backOfficeSftpPassword: undefined,
    metricsPort: undefined,
    metricsHost: '127.0.0.1',
    metricsMaxServices: 0,
    runJobs: true,
    accessLog: false,
    logLevel: 'info',
    otelExporterOtlpEndpoint: undefined,
    otelExporterOtlpHeaders: {},
    otelLogsExporter: 'none',
    otelMetricExportInterval: 60_000,
    otelMetricsExporter: 'none',
    otelServiceName: 'tillbridge',
    otelTracesSampler: 'parentbased_traceidratio',
    otelTracesSamplerArg: undefined,
    failpoint: undefined,
    shutdownDelaySeconds: 0,
    drainSeconds: 25,
  })
})

const validSettings: [name: keyof typeof settings, text: string, key: keyof Config, value: unknown][] = [
  ['PORT', '0', 'port', 0],
  ['PORT', ' 443 ', 'port', 443],
  ['HOST', '0.0.0.0', 'host', '0.0.0.0'],
  ['PLAIN_PORT', '8080', 'plainPort', 8080],
  ['PUBLIC_URL', 'https://api.example.com/shop/', 'publicUrl', 'https://api.example.com/shop'],
  [
    'TRUSTED_PROXIES',
    '10.0.0.5, 10.1.0.0/16,::1,fd00::/8',
    'trustedProxies',
    ['10.0.0.5', '10.1.0.0/16', '::1', 'fd00::/8'],
  ],
  ['HTTP2', 'true', 'http2', true],
  ['WEB_CONCURRENCY', '4', 'webConcurrency', 4],
  ['DATABASE_URL', 'postgresql://a:b@c/d', 'databaseUrl', 'postgresql://a:b@c/d'],
  ['DATABASE_URL', 'postgres://a:b@c:1,d:2/e', 'databaseUrl', 'postgres://a:b@c:1,d:2/e'],
  ['DATABASE_POOL', '200', 'databasePool', 200],
  ['DATABASE_POOLER', 'transaction', 'databasePooler', 'transaction'],
  ['SHUTDOWN_DELAY_SECONDS', '5', 'shutdownDelaySeconds', 5],
  ['DATA_DIR', '/var/lib/tillbridge', 'dataDir', '/var/lib/tillbridge'],
  ['SECRET_KEY', 'k'.repeat(32), 'secretKey', 'k'.repeat(32)],
  ['SMTP_URL', 'smtp://u:p%40@mail.example.com:587?tls=off', 'smtpUrl', 'smtp://u:p%40@mail.example.com:587?tls=off'],
  ['SMTP_URL', 'smtps://mail.example.com', 'smtpUrl', 'smtps://mail.example.com'],
  ['BACKUP_STORAGE', '/backups', 'backupStorage', { type: 'folder', path: '/backups' }],
  ['BACKUP_INTERVAL_HOURS', '', 'backupIntervalHours', undefined],
  ['RUN_JOBS', 'false', 'runJobs', false],
  ['ACCESS_LOG', 'true', 'accessLog', true],
  ['LOG_LEVEL', 'silent', 'logLevel', 'silent'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://otel:4318/', 'otelExporterOtlpEndpoint', 'http://otel:4318'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=b%20c=, X-D=e', 'otelExporterOtlpHeaders', { a: 'b c=', 'x-d': 'e' }],
  ['OTEL_TRACES_SAMPLER', 'always_off', 'otelTracesSampler', 'always_off'],
  ['OTEL_TRACES_SAMPLER_ARG', '0.05', 'otelTracesSamplerArg', 0.05],
  ['DRAIN_SECONDS', '0', 'drainSeconds', 0],
]
for (const [name, text, key, value] of validSettings)
  test(`${name}=${text} sets ${key}`, () => assert.deepEqual(readConfig({ [name]: text })[key], value))

test('an empty setting counts as unset', () => {
  const empty = Object.fromEntries(Object.keys(settings).map(name => [name, ' ']))
  assert.deepEqual(readConfig(empty), readConfig({}))
})

const invalidSettings: [name: keyof typeof settings, texts: string[], problem: string][] = [
  [
    'PORT',
    ['-1', '65536', '8443a', '0x10', '1e3', '8.5', '٣', '99999999999999999999'],
    'must be an integer from 0 to 65535',
  ],
  ['PLAIN_PORT', ['0', '70000', 'http'], 'must be an integer from 1 to 65535'],
  ['PUBLIC_URL', ['http://api.example.com', 'api.example.com', 'https://'], 'must be a URL that begins with https://'],
  [
    'TRUSTED_PROXIES',
    ['proxy.example.com', '10.0.0.5;10.0.0.6', '10.0.0', '10.0.0.0/33', '::1/129', '10.0.0.0/', '10.0.0.0/0/0'],
    'must be a list of IP addresses or networks, separated by commas',
  ],
  ['HTTP2', ['yes', 'on', 'TRUE'], 'must be true or false'],
  ['WEB_CONCURRENCY', ['0', '100000', 'all'], `must be an integer from 1 to ${Math.max(64, cpus().length)}`],
  ['DATABASE_POOL', ['1', '201'], 'must be an integer from 2 to 200'],
  ['RUN_JOBS', ['no', 'off'], 'must be true or false'],
  ['ACCESS_LOG', ['on', 'debug'], 'must be true or false'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', ['otel:4318', 'grpc://otel'], 'must be a URL that begins with http:// or https://'],
  [
    'OTEL_TRACES_SAMPLER',
    ['on', 'ALWAYS_ON'],
    'must be one of parentbased_traceidratio, parentbased_always_on, parentbased_always_off, traceidratio, always_on, always_off',
  ],
  ['OTEL_TRACES_SAMPLER_ARG', ['1.1', '-1', 'always_on', '1.0.0'], 'must be a number from 0 to 1'],
  ['LOG_LEVEL', ['verbose', 'INFO'], 'must be one of fatal, error, warn, info, debug, trace, silent'],
  ['DRAIN_SECONDS', ['-1', '601', '25s'], 'must be an integer from 0 to 600'],
]
for (const [name, texts, problem] of invalidSettings)
  for (const text of texts)
    test(`${name}=${text} is rejected`, () =>
      assert.deepEqual(findProblems({ [name]: text }), [`${name} ${problem}; it is ${JSON.stringify(text)}.`]))

test('invalid headers are rejected without being repeated', () => {
  for (const text of ['%zz=canary', 'a b=canary', '=canary'])
    assert.deepEqual(findProblems({ OTEL_EXPORTER_OTLP_HEADERS: text }), [
      'OTEL_EXPORTER_OTLP_HEADERS must be a list such as name=value,name=value.',
    ])
})

test('an unknown sslmode is rejected', () => {
  for (const mode of ['rubbish', 'prefer', ''])
    assert.deepEqual(findProblems({ DATABASE_URL: `postgres://a:hunter2@one,two/c?sslmode=${mode}` }), [
      'DATABASE_URL must have one of these values as sslmode: disable, require, verify-ca, verify-full.',
    ])
  for (const mode of ['disable', 'require', 'verify-full'])
    assert.deepEqual(findProblems({ DATABASE_URL: `postgres://a:b@one,two/c?sslmode=${mode}` }), [])
})

test('a certificate file of DATABASE_URL that is missing is rejected by name', () => {
  assert.deepEqual(
    findProblems({ DATABASE_URL: 'postgres://a:hunter2@one/c?sslmode=verify-full&sslrootcert=/nowhere/ca.pem' }),
    [
      "DATABASE_URL names /nowhere/ca.pem, which can't be read (ENOENT). The user that runs Tillbridge must be able to read this file.",
    ],
  )
})

test('a missing file is rejected by name', () => {
  assert.deepEqual(findProblems({ TLS_CERT_FILE: thisFile, TLS_KEY_FILE: '/nowhere/key.pem' }), [
    'TLS_KEY_FILE must name an existing file; it is "/nowhere/key.pem".',
  ])
})

test('a certificate and its key must be set together', () => {
  const problem = 'TLS_CERT_FILE and TLS_KEY_FILE must be set together.'
  assert.deepEqual(findProblems({ TLS_CERT_FILE: thisFile }), [problem])
  assert.deepEqual(findProblems({ TLS_KEY_FILE: thisFile }), [problem])
  assert.deepEqual(findProblems({ TLS_CERT_FILE: thisFile, TLS_KEY_FILE: thisFile }), [])
})

test('replicas need a primary and are named once', () => {
  const DATABASE_URL = 'postgres://a@one/c'
  assert.deepEqual(findProblems({ DATABASE_READ_URL: 'postgres://a@two/c' }), [
    "DATABASE_READ_URL can't be set without DATABASE_URL, the primary of these replicas.",
  ])
  assert.deepEqual(findProblems({ DATABASE_URL, DATABASE_READ_URL: 'postgres://a:hunter2@two:1,two:1/c' }), [
    "DATABASE_READ_URL can't name a replica twice.",
  ])
  assert.deepEqual(findProblems({ DATABASE_URL, DATABASE_READ_URL: 'postgres://a:b@two,two:5432/c' }), [
    "DATABASE_READ_URL can't name a replica twice.",
  ])
  assert.deepEqual(findProblems({ DATABASE_URL, DATABASE_READ_URL: 'postgres://a:12#hunter2@two/c' }), [
    'DATABASE_READ_URL must be a URL: write special characters in the password as %XX, for example %23 for #.',
  ])
  assert.deepEqual(findProblems({ DATABASE_URL, DATABASE_READ_URL: 'mysql://a:hunter2@two/c' }), [
    'DATABASE_READ_URL must begin with postgres://.',
  ])
  assert.deepEqual(findProblems({ DATABASE_URL, DATABASE_READ_URL: 'postgres://a:b@two:1,two:2/c' }), [])
})

test('an unencoded password is never read as a server name', () => {
  const DATABASE_URL = 'postgres://a@one/c'
  const problem = 'must be a URL: write special characters in the password as %XX, for example %23 for #.'
  for (const url of ['postgres://u:12#9x@two/c', 'postgres://u:12/9x@two/c', 'postgres://u:hunter/2@two/c']) {
    assert.deepEqual(findProblems({ DATABASE_URL, DATABASE_READ_URL: url }), [`DATABASE_READ_URL ${problem}`])
    assert.deepEqual(findProblems({ DATABASE_URL: url }), [`DATABASE_URL ${problem}`])
  }
  for (const url of ['postgres://u:12%239x@two/c', 'postgres://u@%2Ftmp%2Fa:5433/c', 'postgres://u@/c?host=/tmp'])
    assert.deepEqual(findProblems({ DATABASE_URL, DATABASE_READ_URL: url }), [])
})

test('messages never contain a secret', () => {
  assert.deepEqual(findProblems({ SECRET_KEY: 'short-secret', DATABASE_URL: 'mysql://tillbridge:hunter2@db/shop' }), [
    'DATABASE_URL must begin with postgres://.',
    'SECRET_KEY must have at least 32 characters; it has 12.',
  ])
  const addresses = [
    'smtp://shop:hunter2@',
    'imap://shop:hunter2@mail',
    'smtp://shop:hunter2@mail?tls=maybe',
    'hunter2',
  ]
  for (const SMTP_URL of addresses)
    assert.deepEqual(findProblems({ SMTP_URL }), [
      'SMTP_URL must be a URL such as smtp://user:password@host:587 or smtps://host, optionally with ?tls=off.',
    ])
})

test('all problems are listed in the order of .env.example', () => {
  const first = Object.fromEntries(invalidSettings.map(([name, texts]) => [name, texts[0] ?? '']))
  const reportedNames = findProblems(first).map(line => line.split(' ')[0])
  assert.deepEqual(
    reportedNames,
    Object.keys(settings).filter(name => name in first),
  )
})

test('.env.example lists exactly the settings, each with a description', () => {
  assert.equal(example, renderEnvExample())
  assert.deepEqual(
    [...example.matchAll(/^#([A-Z_0-9]+)=/gm)].map(([, name]) => name),
    Object.keys(settings),
  )
  for (const block of example.trim().split('\n\n').slice(1)) assert.match(block, /^# .{20,}\n#[A-Z_0-9]+=.+$/)
})

test('the defaults in .env.example are the actual defaults', () => {
  const lines = [...example.matchAll(/^#([A-Z_0-9]+)=(.*)$/gm)].map(
    ([, name = '', value = '']) => [name, value] as const,
  )
  const input = [
    'PORT',
    'HOST',
    'HTTP2',
    'WEB_CONCURRENCY',
    'DATABASE_POOL',
    'DATA_DIR',
    'RUN_JOBS',
    'LOG_LEVEL',
    'DRAIN_SECONDS',
  ]
  assert.deepEqual(readConfig(Object.fromEntries(lines.filter(([name]) => input.includes(name)))), readConfig({}))
})

test('each secret can be read from a file', t => {
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-secrets-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'secret')
  writeFileSync(file, `${'k'.repeat(32)}\n`)
  assert.equal(readConfig({ SECRET_KEY_FILE: file }).secretKey, 'k'.repeat(32))
  assert.equal(
    readConfig({
      BACK_OFFICE: 'apparel21',
      BACK_OFFICE_URL: 'https://retail.example/',
      BACK_OFFICE_COUNTRY: 'AU',
      BACK_OFFICE_PASSWORD_FILE: file,
      BACK_OFFICE_USER: 'a',
    }).backOfficePassword,
    'k'.repeat(32),
  )
  assert.deepEqual(findProblems({ SECRET_KEY_FILE: file, SECRET_KEY: 'a'.repeat(32) }), [
    "SECRET_KEY and SECRET_KEY_FILE can't both be set.",
  ])
  assert.deepEqual(findProblems({ DATABASE_URL_FILE: '/nowhere/url' }), [
    'DATABASE_URL can\'t be read: DATABASE_URL_FILE must name a readable file (ENOENT); it is "/nowhere/url".',
  ])
  writeFileSync(file, 'short')
  assert.deepEqual(findProblems({ SECRET_KEY_FILE: file }), ['SECRET_KEY must have at least 32 characters; it has 5.'])
  for (const name of secretSettings) assert.ok(example.includes(name) && reference.includes(name), name)
})

import { STATUS_CODES } from 'node:http'
import { failuresBeforeBlock } from '../../src/backoffice/vouchers/guesses.ts'
import { describeSecretFiles, settings } from '../../src/config/config.ts'
import { roles } from '../../src/domain/accounts.ts'
import { alertKinds } from '../../src/domain/alerts.ts'
import { changeFields, changeKinds, pathsByKind } from '../../src/domain/changes.ts'
import { defaultSettings, Settings } from '../../src/domain/tenancy/service-settings.ts'
import { maxResendsPerDay } from '../../src/domain/vouchers/emails.ts'
import { maxOpenRecords } from '../../src/errors/account-limit.ts'
import { type ErrorCode, errorCodes } from '../../src/errors/api-error.ts'
import { maxBodyBytes } from '../../src/http/body/body.ts'
import { findErrorGuide } from '../../src/http/docs/error-guides.ts'
import { maxConcurrent } from '../../src/http/limits/concurrency-limit.ts'
import { maxStreams } from '../../src/http/limits/turns-of-connections.ts'
import { buildExampleProblem } from '../../src/http/openapi/errors.ts'
import { getErrors } from '../../src/http/openapi/operations.ts'
import { buildExamplePath } from '../../src/http/openapi/parameters.ts'
import { maxHeaderBytes, maxHeaders, maxUrlLength } from '../../src/http/protocol/request-limits.ts'
import { isConsoleOperation, type Operation, type Tag, tagDescriptions } from '../../src/http/routing/operation.ts'
import { maxFileBytes } from '../../src/http/routing/uploads.ts'
import { routes } from '../../src/resources/resources.ts'

/** Returns a Markdown table. A `|` in a cell is escaped. */
const renderTable = (header: string[], rows: string[][]) => {
  const toLine = (cells: string[]) => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
  return `${toLine(header)}|${'---|'.repeat(header.length)}\n${rows.map(toLine).join('')}`
}

const renderCode = (text: string) => `\`${text}\``

/** True if the same request can succeed later. Writes need the same `Idempotency-Key`. */
const isRetryable = (name: ErrorCode) =>
  [408, 429, 500, 502, 503, 504].includes(errorCodes[name].status) ||
  name === 'idempotency_in_progress' ||
  name === 'concurrent_update'

/** Returns the page of the errors: for each status a table of its codes, then for each code an example and the requests that return it. */
export function buildErrorsPage() {
  const operations = routes.map(({ operation }) => operation).filter(operation => !isConsoleOperation(operation))
  const byStatus = Map.groupBy(Object.keys(errorCodes) as ErrorCode[], name => errorCodes[name].status)
  const sections = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, names]) => {
      const rows = names.map(name => [
        `[${renderCode(name)}](#${name})`,
        errorCodes[name].title,
        isRetryable(name) ? 'yes' : 'no',
      ])
      const details = names.map(name => describeError(name, operations))
      return `## ${status} ${STATUS_CODES[status]}\n\n${renderTable(['Code', 'Meaning', 'Retry'], rows)}\n${details.join('\n')}`
    })
  return `# Errors

Every error is \`application/problem+json\` (RFC 9457). Let programs branch on \`code\`.
\`type\` is the address of a page about the error: \`GET /errors/<code>\`. *Retry* is *yes* if the same request can succeed later: wait for \`Retry-After\`, and repeat a write with the same \`Idempotency-Key\`.
This page is generated from \`src/errors/error-codes.ts\` by \`npm run docs\`.

${sections.join('\n')}`
}

/** Returns the section of an error code. The example is of the first operation that returns it. */
function describeError(name: ErrorCode, operations: readonly Operation[]) {
  const returning = operations.filter(operation => getErrors(operation).includes(name))
  const guide = findErrorGuide(name)
  const path = guide.path.startsWith('reference/') ? guide.path.replace('reference/', '') : `../${guide.path}`
  const [first] = returning
  const instance = first ? buildExamplePath(first.path, first.params) : '/customers/search'
  const example = JSON.stringify(buildExampleProblem(name, 'https://api.example.com', instance), null, 2)
  return `### ${name}

${errorCodes[name].title} ${errorCodes[name].remedy}

- Guide: [${guide.title}](${path}.md)
- Requests: ${returning.length === operations.length ? 'all' : listRequests(returning)}

\`\`\`json
${example}
\`\`\`
`
}

/** Lists the first three requests. */
function listRequests(operations: readonly Operation[]) {
  if (!operations.length) return 'none that the API reference lists'
  return `${operations.slice(0, 3).map(formatRequest).join(', ')}${operations.length > 3 ? ' and others' : ''}`
}

const formatRequest = ({ method, path }: Pick<Operation, 'method' | 'path'>) =>
  renderCode(`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)

/** Returns the page of the alerts that people receive. */
export function buildAlertsPage() {
  const rows = Object.entries(alertKinds).map(([name, { title, remedy, autoResolves }]) => [
    renderCode(name),
    title,
    remedy,
    autoResolves ? 'yes' : 'no',
  ])
  return `# Alerts

Tillbridge raises an alert when a problem needs attention: in the console, in \`GET /alerts\` and by email to the setting \`alertEmail\`.
An alert with *yes* in the last column disappears when its cause is fixed. Resolve the others with \`tillbridge alert resolve\`.
\`{service}\` is the name of the service. \`{subject}\` is the affected record, which the alert names. [Runbooks](../operate/runbooks.md) has the steps for each alert.
This page is generated from \`src/domain/alerts.ts\` by \`npm run docs\`.

${renderTable(['Alert', 'Problem', 'What to do', 'Resolves automatically'], rows)}`
}

interface SettingSchema {
  description: string
  default: unknown
  type?: string
  enum?: unknown[]
  minimum?: number
  maximum?: number
  anyOf?: SettingSchema[]
  const?: unknown
}

/** Returns the values that a setting accepts, in words. */
function describeValues({ type, enum: values, minimum, maximum, anyOf, const: value }: SettingSchema): string {
  if (anyOf) return anyOf.map(describeValues).join(' or ')
  if (value !== undefined) return renderCode(String(value))
  if (values) return values.map(allowed => renderCode(String(allowed))).join(' or ')
  if (type === 'integer') return `integer, ${minimum} to ${maximum}`
  return type ?? ''
}

export function buildSettingsPage() {
  const rows = Object.entries(Settings.properties).map(([name, schema]) => {
    const setting = schema as unknown as SettingSchema
    return [renderCode(name), setting.description, describeValues(setting), renderCode(JSON.stringify(setting.default))]
  })
  return `# Service settings

Each service has its own settings. Change them with \`tillbridge service set\`, in the console under *Settings*, or with \`PUT /settings\`.
This page is generated from \`src/domain/tenancy/service-settings.ts\` by \`npm run docs\`.

${renderTable(['Setting', 'Effect', 'Values', 'Default'], rows)}`
}

/** The headings of the environment variables, each with its first variable. */
const environmentGroups: readonly [title: string, first: keyof typeof settings][] = [
  ['Server', 'PORT'],
  ['Database and data', 'DATABASE_URL'],
  ['Identity provider', 'OIDC_ISSUER'],
  ['Backups', 'BACKUP_RECIPIENTS'],
  ['Email', 'SMTP_URL'],
  ['Back office', 'BACK_OFFICE'],
  ['Webhooks and jobs', 'WEBHOOK_NETWORKS'],
  ['Logs, metrics and traces', 'ACCESS_LOG'],
  ['Shutdown and crash tests', 'FAILPOINT'],
]

export function buildEnvironmentPage() {
  const names = Object.keys(settings) as (keyof typeof settings)[]
  const starts = environmentGroups.map(([, first]) => names.indexOf(first))
  const sections = environmentGroups.map(([title], i) => {
    const rows = names.slice(starts[i], starts[i + 1]).map(name => {
      const { description, example } = settings[name]
      return [renderCode(name), description, renderCode(example)]
    })
    return `## ${title}\n\n${renderTable(['Variable', 'Effect', 'Default or example'], rows)}`
  })
  return `# Environment variables

Tillbridge reads these variables from the environment and from \`.env\` in its directory. \`.env.example\` has all of them.
${describeSecretFiles(renderCode)}
This page is generated from \`src/config/\` by \`npm run docs\`.

${sections.join('\n')}`
}

/** Returns the page of the roles: which role may call which operation. */
export function buildPermissionsPage() {
  const sections = (Object.keys(tagDescriptions) as Tag[]).flatMap(tag => {
    const rows = routes
      .map(({ operation }) => operation)
      .filter(operation => operation.tag === tag && !isConsoleOperation(operation))
      .map(({ summary, method, path, role, scope }) => [
        summary,
        formatRequest({ method, path }),
        ...roles.map(listed => (!role || roles.indexOf(listed) >= roles.indexOf(role) ? 'yes' : '–')),
        scope === 'any' || scope === 'none' ? scope : renderCode(scope),
      ])
    return rows.length ? [`## ${tag}\n\n${renderTable(['Operation', 'Request', ...roles, 'Scope'], rows)}`] : []
  })
  return `# Permissions

An account has one role in each service. Each role includes the permissions of the roles before it.
A request that needs a higher role returns 403 \`insufficient_role\`.
A request with an API key needs the role and the scope, unless the key has all scopes. Otherwise it returns 403 \`insufficient_scope\`.
*any*: every key can call the operation. *none*: only the account's password can.
This page is generated from the route definitions by \`npm run docs\`.

${sections.join('\n')}`
}

interface WebhookDocument {
  webhooks: {
    'records.changed': {
      post: { description: string; parameters: { name: string; description: string; example: string }[] }
    }
  }
}

/** Returns the page of the webhook events, from the OpenAPI document and the schemas of changes. */
export function buildWebhookEventsPage(openApiDocument: string) {
  const { description, parameters } = (JSON.parse(openApiDocument) as WebhookDocument).webhooks['records.changed'].post
  const headers = parameters.map(({ name, description: meaning, example }) => [
    renderCode(name),
    meaning,
    renderCode(example),
  ])
  const kinds = changeKinds.map(kind => [renderCode(kind), renderCode(`GET ${pathsByKind[kind]}/{id}`)])
  const fields = Object.entries(changeFields).map(([name, schema]) => [
    renderCode(name),
    (schema as { description?: string }).description ?? '',
  ])
  return `# Webhook events

${description}
This page is generated from \`src/domain/changes.ts\` and the OpenAPI document by \`npm run docs\`. [Receive webhooks](../shop/receive-webhooks.md) explains each step.

## Types

${renderTable(
  ['Type', 'Sent', 'Body'],
  [
    [renderCode('records.changed'), 'Records have changed or were removed.', '`data.changes` has at most 100 changes.'],
    [renderCode('webhook.test'), 'A person or program has sent a test.', 'It has no changes.'],
  ],
)}
## Headers

${renderTable(['Header', 'Meaning', 'Example'], headers)}
## Kinds

Limit a webhook to some kinds with \`kinds\`. Vouchers send no events, because their numbers are half of a secret.

${renderTable(['Kind', 'Read the record'], kinds)}
## Fields of a change

${renderTable(['Field', 'Meaning'], fields)}`
}

interface Bounds {
  minimum?: number
  maximum?: number
  default?: number
}

/** Returns the page of the limits. The values come from the code and from the OpenAPI document. */
export function buildLimitsPage(openApiDocument: string) {
  const { paths, components } = JSON.parse(openApiDocument) as {
    paths: Record<string, { get: { parameters: { name?: string; schema?: Bounds }[] } }>
    components: { schemas: Record<string, { properties: Record<string, Bounds> }> }
  }
  const count = (value: number | undefined) => (value ?? Number.NaN).toLocaleString('en')
  const getParameter = (path: string, name: string) =>
    paths[path]?.get.parameters.find(parameter => parameter.name === name)?.schema?.maximum
  const formatSeconds = (schema: string) => {
    const { minimum, maximum, default: usual } = components.schemas[schema]?.properties.seconds ?? {}
    return `${count(minimum)} to ${count(maximum)}, ${count(usual)} by default`
  }
  const { readsPerMinute, writesPerMinute } = defaultSettings
  const rows = [
    ['Records per page', count(getParameter('/stores', 'limit')), '400 `invalid_parameter`'],
    ['Changes per page of `GET /changes`', count(getParameter('/changes', 'limit')), '400 `invalid_parameter`'],
    ['Seconds that `wait` can hold a response', count(getParameter('/changes', 'wait')), '400 `invalid_parameter`'],
    ['Request body', `${maxBodyBytes / 1024} KiB`, '413 `body_too_large`'],
    [
      'Import file',
      `${maxFileBytes / 1024 ** 2} MiB, received within 30 s`,
      '413 `body_too_large`, 408 `request_timeout`',
    ],
    ['Headers', `${maxHeaders} headers, ${maxHeaderBytes / 1024} KiB in total`, '431 `headers_too_large`'],
    ['HTTP/2 streams that a client resets at once', count(maxStreams), 'The connection is closed.'],
    ['URL', `${maxUrlLength / 1024} KiB`, '414 `uri_too_long`'],
    ['Open change streams per account', count(maxConcurrent.too_many_streams), '429 `too_many_streams`'],
    ['Running bulk exports per account', count(maxConcurrent.too_many_exports), '429 `too_many_exports`'],
    ['Running imports per account', count(maxConcurrent.too_many_imports), '429 `too_many_imports`'],
    [
      'Reads per account and minute',
      `\`readsPerMinute\`, ${count(Number(readsPerMinute))} by default`,
      '429 `rate_limited`',
    ],
    [
      'Writes per account and minute',
      `\`writesPerMinute\`, ${count(Number(writesPerMinute))} by default`,
      '429 `rate_limited`',
    ],
    ['Reservations per account', count(maxOpenRecords), '429 `rate_limited`'],
    ['Locked vouchers per account', count(maxOpenRecords), '429 `rate_limited`'],
    ['Pending redemptions of rewards per account', count(maxOpenRecords), '429 `rate_limited`'],
    ['Seconds of a reservation', formatSeconds('ReservationInput'), '422 `invalid_field`'],
    ['Seconds of a redemption', formatSeconds('RedemptionInput'), '422 `invalid_field`'],
    ['Wrong PINs of a voucher', `${failuresBeforeBlock}, then a growing pause`, '403 `voucher_not_accepted`'],
    ['Resent emails of a voucher', `one a minute, ${maxResendsPerDay} in 24 hours`, '429 `rate_limited`'],
  ]
  return `# Limits

The limits of requests and accounts, and the response beyond each.
This page is generated from the code and the OpenAPI document by \`npm run docs\`.

${renderTable(['Limit', 'Value', 'Beyond it'], rows)}
Reads and writes are counted in each server process. With several processes, an account can reach the limit several times.

Each response has \`RateLimit-Policy\`, the limit, and \`RateLimit\`, what is left of it and the seconds until it starts again:

\`\`\`
RateLimit-Policy: "read";q=24000;w=60
RateLimit: "read";r=23990;t=12
\`\`\`
`
}

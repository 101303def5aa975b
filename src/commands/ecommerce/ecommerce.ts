import { readConfig } from '../../config/config.ts'
import type { Keys } from '../../crypto/keys.ts'
import type { Database, Db } from '../../database/db.ts'
import {
  type ConnectionSettings,
  connectionFields,
  defaultConnection,
  platformSyncs,
} from '../../domain/ecommerce/connection-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { readPoints } from '../../store/ecommerce/budget.ts'
import {
  deleteConnection,
  findConnection,
  lockConnection,
  type StoredConnection,
  setConnection,
} from '../../store/ecommerce/connections.ts'
import { approvePush } from '../../store/ecommerce/push-state.ts'
import { dryRunDays, hasRecentDryRun } from '../../store/ecommerce/reconciliations.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import { readSyncStatuses } from '../../store/sync/status.ts'
import { recordCommand } from '../terminal/audit.ts'
import { type Command, formatExamples } from '../terminal/command.ts'
import { formatInterval } from '../terminal/interval.ts'
import { readSecret } from '../terminal/secret.ts'
import { withDatabase } from '../terminal/session.ts'
import { formatTable } from '../terminal/table.ts'
import { applyChange, type ConnectionChange, parseAssignments } from './assignments.ts'
import { reconcileNow } from './reconcile.ts'
import { checkSubscriptions, removeSubscriptions, updateSubscriptions } from './subscriptions.ts'
import { testConnection } from './test.ts'

/** `tillbridge ecommerce`: the live connection of a service to its e-commerce platform. */
export function buildEcommerceCommand(program: Command) {
  const ecommerce = program
    .command('ecommerce')
    .description('Manage connections to e-commerce platforms')
    .examples(
      ['ecommerce set luma url=luma-au.myshopify.com clientId=4f1c… --secret-file s', 'connects a Shopify shop'],
      ['ecommerce set luma driver=medusa url=shop.example.com --secret-file s', 'connects a Medusa'],
      ['ecommerce set luma events=on', 'lets the platform report changes at once'],
      ['ecommerce test luma', 'checks credentials, scopes, currency and the API version'],
      ['ecommerce status luma', 'shows the connection and its syncs'],
      ['ecommerce reconcile luma', "compares the platform's stock"],
      ['ecommerce clear luma', 'removes the connection'],
    )

  ecommerce
    .command('set')
    .argument('<service>')
    .argument('<setting=value...>')
    .option(
      '--secret-file <file>',
      'file with the client secret, or the secret API key of a Medusa (default: standard input)',
    )
    .description("Set a service's connection to its e-commerce platform")
    .addHelpText('after', settingsHelp())
    .action((name: string, assignments: string[], { secretFile }: { secretFile?: string }) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const change = parseAssignments(assignments)
        const secret = await readNewSecret(db, keys, service, change, secretFile)
        const { before, settings } = await db.transaction(tx => merge(tx, keys, service, change, secret))
        console.log(formatSettings(settings).join('\n'))
        if (settings.events === 'on' || before?.events === 'on') await updateSubscriptions(db, keys, service)
        console.log(`Check the connection: tillbridge ecommerce test ${name}`)
      }),
    )

  ecommerce
    .command('test')
    .argument('<service>')
    .description("Test a service's connection to its e-commerce platform")
    .examples(['ecommerce test luma', 'names missing scopes; exits with 1 on failure'])
    .action((name: string) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        await testConnection(db, keys, service, await requireConnection(db, keys, service))
      }),
    )

  ecommerce
    .command('status')
    .argument('<service>')
    .description("Show a service's connection and the state of its syncs")
    .examples(['ecommerce status luma', 'shows settings, syncs and the points of the rate limit'])
    .action((name: string) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const { settings, connectionId } = await requireConnection(db, keys, service)
        console.log(formatSettings(settings).join('\n'))
        console.log(await formatSyncs(db, service))
        if (settings.events === 'on') console.log((await checkSubscriptions(db, keys, service)).description)
        const points = await readPoints(db, service, connectionId)
        if (points)
          console.log(
            `Points: ${points.orders + points.stock + points.background} of ${points.capacity}, ${points.restorePerSecond} restored per second.`,
          )
      }),
    )

  ecommerce
    .command('reconcile')
    .argument('<service>')
    .option('--apply', 'let a stopped stock push continue')
    .description("Compare a service's stock with its e-commerce platform")
    .examples(
      ['ecommerce reconcile luma', 'shows counts and the largest differences; changes nothing on the platform'],
      ['ecommerce reconcile luma --apply', 'also lets the stock push set these differences'],
    )
    .action((name: string, { apply = false }: { apply?: boolean }) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        const { settings } = await requireConnection(db, keys, service)
        if (settings.stockPush === 'off')
          throw new Error(`The stock push is off. To compare stock: tillbridge ecommerce set ${name} stockPush=dryRun`)
        await reconcileNow(db, keys, service, apply)
      }),
    )

  ecommerce
    .command('clear')
    .argument('<service>')
    .description("Remove a service's connection to its e-commerce platform")
    .examples(['ecommerce clear luma', 'also deletes its secret; mappings stay'])
    .action((name: string) =>
      withDatabase(async ({ keys, services }) => {
        const { service, db } = await services.find(name)
        await removeSubscriptions(db, keys, service)
        const isDeleted = await db.transaction(async tx => {
          const existed = await deleteConnection(tx, service)
          if (existed) await recordChange(tx, service, 'ecommerce clear', {})
          return existed
        })
        console.log(isDeleted ? `Connection of ${name} removed. Its mappings stay.` : describeMissing(name))
      }),
    )
}

function settingsHelp() {
  const lines = [
    ...Object.entries(connectionFields).map(([name, { description }]) => [name, description] as const),
    ['interval.<sync>', `The time between two runs of a sync (1m to 7d). Syncs: ${platformSyncs.join(', ')}.`] as const,
  ]
  const width = Math.max(...lines.map(([name]) => name.length))
  return `\nSettings:\n${lines.map(([name, description]) => `  ${name.padEnd(width)} ${description}`).join('\n')}\n\nAn empty value restores the default. Settings that you don't name stay unchanged.\n${formatExamples(
    [
      'ecommerce set luma url=luma-au.myshopify.com clientId=4f1c… --secret-file /run/secrets/shopify',
      'reads the client secret from a file',
    ],
    ['ecommerce set luma autoMapping=exact', 'maps certain matches automatically'],
    ['ecommerce set luma interval.ecommerce-variants=2m', 'sets a sync interval'],
  )}`
}

const describeMissing = (name: string) =>
  `${name} has no connection. To create it: tillbridge ecommerce set ${name} url=… clientId=…`

async function requireConnection(db: Db, keys: Keys, service: Service): Promise<StoredConnection> {
  const stored = await findConnection(db, keys, service)
  if (!stored) throw new Error(describeMissing(service.name))
  return stored
}

/** Reads the secret if the command sets other credentials. */
async function readNewSecret(
  db: Db,
  keys: Keys,
  service: Service,
  { fields }: ConnectionChange,
  file: string | undefined,
): Promise<string | undefined> {
  const stored = await findConnection(db, keys, service)
  const driver = fields.driver ?? stored?.settings.driver ?? defaultConnection.driver
  const isNeeded =
    stored?.secret === undefined ||
    driver !== stored.settings.driver ||
    fields.clientId !== undefined ||
    fields.url !== undefined
  if (file === undefined && !isNeeded) return
  if (driver !== 'medusa') return readSecret('Client secret: ', file, 'secret')
  const secret = await readSecret('Secret API key: ', file, 'secret')
  if (!secret.startsWith('sk_')) throw new Error('The secret must be a secret API key of Medusa: it begins with sk_.')
  return secret
}

async function merge(
  tx: Db,
  keys: Keys,
  service: Service,
  change: ConnectionChange,
  newSecret: string | undefined,
): Promise<{ before: ConnectionSettings | undefined; settings: ConnectionSettings }> {
  const before = await lockConnection(tx, keys, service)
  const settings = applyChange(before?.settings, defaultConnection, change)
  if (settings.events === 'on' && readConfig().publicUrl === undefined)
    throw new Error('PUBLIC_URL must be set: the platform sends its events to this URL.')
  const isSameShop = before?.settings.url === settings.url && before.settings.driver === settings.driver
  const isStarting = settings.stockPush === 'on' && !(isSameShop && before.settings.stockPush === 'on')
  if (isStarting && !(isSameShop && (await hasRecentDryRun(tx, service))))
    throw new Error(
      `The stock push can't start without a dry run of the last ${dryRunDays} days. Run "tillbridge ecommerce set ${service.name} stockPush=dryRun", then "tillbridge ecommerce reconcile ${service.name}", and review the differences.`,
    )
  const secret = newSecret ?? before?.secret
  if (secret === undefined) throw new Error('Another command has removed the connection. Run the command again.')
  const isSameApp = isSameShop && before.settings.clientId === settings.clientId
  const replacedSecret = isSameApp && before.secret !== secret ? before.secret : undefined
  await setConnection(tx, keys, service, settings, secret, replacedSecret)
  // The dry run was reviewed, so its differences don't count for the safety stop.
  if (isStarting) await approvePush(tx, service)
  await recordChange(tx, service, 'ecommerce set', { ...change.fields, ...change.intervals })
  return { before: before?.settings, settings }
}

/** Writes an audit entry, and schedules the syncs. */
async function recordChange(tx: Db, service: Service, operation: string, body: object) {
  await recordCommand(tx, service, { operation, subject: '/ecommerce', body })
  await addJob(tx, null, 'schedule-syncs', {})
}

const formatSettings = ({ intervals, ...settings }: ConnectionSettings): string[] => [
  ...Object.entries(settings)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} = ${value}`),
  ...Object.entries(intervals).map(([sync, seconds]) => `interval.${sync} = ${formatInterval(seconds)}`),
  'secret = (set)',
]

async function formatSyncs(db: Database, service: Service): Promise<string> {
  const statuses = await readSyncStatuses(db, service)
  const rows = platformSyncs.map(sync => {
    const status = statuses.find(candidate => candidate.sync === sync)
    return [sync, status?.lastResult ?? 'none', status?.syncedAt ?? 'never', status?.nextRunAt ?? '-']
  })
  return formatTable(['sync', 'last run', 'synced at', 'next run'], rows)
}

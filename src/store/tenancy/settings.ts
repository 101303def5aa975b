import { type Db, type Sql, sql } from '../../database/db.ts'
import { defaultSettings, type Service, type Settings } from '../../domain/tenancy/service-settings.ts'
import {
  type AmountKind,
  amountKinds,
  explainCurrencyChange,
  type SettingsChange,
  type ShownSettings,
} from '../../domain/tenancy/settings-rules.ts'
import { renderProducts } from '../catalog/products.ts'
import { updateSubscriptions } from '../customers/subscriptions.ts'
import { rerenderAllStock } from '../inventory/stale-stock.ts'
import { beginChange, localTime, timestampValueLength } from '../lists/change-timestamp.ts'
import { listGatewayNames, setGateways } from './gateways.ts'

/** Reads the current settings of a service, because `service.settings` can be cached. Their order is always the same. */
export async function readSettings(db: Db, service: Service): Promise<ShownSettings> {
  const row = await db.row<{ settings: Partial<Settings> }>(
    sql`select settings from service where service_id = ${service.id}`,
  )
  const stored = { ...defaultSettings, ...row?.settings }
  const names = Object.keys(defaultSettings) as (keyof Settings)[]
  const current = Object.fromEntries(names.map(name => [name, stored[name]])) as Settings
  return { ...current, gateways: await listGatewayNames(db, service) }
}

/** Locks the settings of a service until the transaction ends. */
export const lockSettings = (tx: Db, service: Service) =>
  tx.run(sql`select from service where service_id = ${service.id} for no key update`)

/** Returns the effect of changing the currency on the stored amounts, or undefined if it has none. */
export async function findCurrencyEffect(
  db: Db,
  service: Service,
  before: string,
  { currency: after }: SettingsChange,
) {
  if (after === undefined || (after ?? defaultSettings.currency) === before) return
  const isStored = (table: Sql) => sql`exists (select from ${table} where service_id = ${service.id})`
  const stored = await db.row<Record<AmountKind, boolean>>(sql`
    select ${isStored(sql`product`)} as products, ${isStored(sql`sales_order`)} as orders,
           ${isStored(sql`retail_transaction`)} as sales, ${isStored(sql`voucher`)} as vouchers,
           ${isStored(sql`reward_account`)} as "reward accounts"`)
  return explainCurrencyChange(
    before,
    after ?? defaultSettings.currency,
    amountKinds.filter(kind => stored?.[kind]),
  )
}

/** Changes settings of a service, and updates the records that show them. Returns the service with its new settings. */
export async function changeSettings(tx: Db, service: Service, change: SettingsChange): Promise<Service> {
  await lockSettings(tx, service)
  const before = await readSettings(tx, service)
  const { gateways, ...settings } = change
  const entries = Object.entries(settings)
  const cleared = entries.filter(([, value]) => value === null).map(([name]) => name)
  const assigned = Object.fromEntries(entries.filter(([, value]) => value !== null))
  await tx.run(
    sql`update service set settings = (settings - ${cleared}::text[]) || ${JSON.stringify(assigned)}::jsonb where service_id = ${service.id}`,
  )
  if (gateways !== undefined) await setGateways(tx, service, gateways ?? [])
  const { gateways: _, ...after } = await readSettings(tx, service)
  const changed = { ...service, settings: after }
  const differs = (name: keyof Settings) => JSON.stringify(after[name]) !== JSON.stringify(before[name])
  if (differs('timeZone')) await convertTimes(tx, changed, before.timeZone)
  if (differs('subscriptionMapping')) await updateSubscriptions(tx, changed)
  if (differs('currency')) await renderProducts(tx, changed, await beginChange(tx, changed, ['product']), sql``)
  if (differs('inventoryBuffer')) await rerenderAllStock(tx, changed, await beginChange(tx, changed, ['stock']))
  return changed
}

/**
 * Renders the change timestamps of all records in a new time zone, and converts the local times with which later rows are compared. The
 * instants don't change, so no record counts as changed.
 */
async function convertTimes(tx: Db, service: Service, previous: string) {
  const timestamp = sql`format('"%s"', ${localTime(sql`changed_at`, service)})`
  const ownService = sql`service_id = ${service.id}`
  const convert = (columns: readonly Sql[]) =>
    columns
      .map(column => sql`${column} = ${column} at time zone ${previous} at time zone ${service.settings.timeZone}`)
      .reduce((all, next) => sql`${all}, ${next}`)
  const contentTime = sql`source_changed_at`
  const consentTimes = [sql`privacy_changed_at`, sql`email_subscription_changed_at`, sql`sms_subscription_changed_at`]
  /** `endLength`: the number of characters after the change timestamp. */
  const render = (endLength: number) =>
    sql`record = left(record, ${-(timestampValueLength + endLength)}::integer) || ${timestamp} || right(record, ${endLength}::integer)`
  await tx.run(sql`update product set ${render(1)} where ${ownService}`)
  await tx.run(sql`update stock set ${render(1)}, ${convert([contentTime])} where ${ownService}`)
  await tx.run(sql`update retail_transaction set ${render(1)}, ${convert([contentTime])} where ${ownService}`)
  await tx.run(sql`update customer set ${render(0)}, ${convert([contentTime, ...consentTimes])} where ${ownService}`)
  for (const table of [sql`variant`, sql`store`, sql`staff`])
    await tx.run(sql`update ${table} set ${convert([contentTime])} where ${ownService}`)
  // An audit entry begins with its ID and its time.
  await tx.run(sql`
    update audit set record = overlay(record placing ${timestamp} from position('"at":' in record) + 5 for ${timestampValueLength}::integer)
     where service_id = ${service.id}`)
}

import type { ConnectionSettings } from '../../domain/ecommerce/connection-settings.ts'
import { PlatformFailure } from '../../domain/ecommerce/platform-failure.ts'
import type { PriorityClass } from '../../store/ecommerce/budget.ts'
import type { Budget } from '../port/budget.ts'
import type { CallLog, EcommercePlatform, ProbeResult } from '../port/platform.ts'
import { createShopifyClient, type ShopifyClient } from './client/client.ts'
import { openTokens, type TokenStore } from './client/tokens.ts'
import { operations } from './documents/documents.ts'
import { createSubscriptions } from './events/subscriptions.ts'
import { createInventory } from './inventory/inventory.ts'
import { listSyncs } from './syncs/syncs.ts'

export interface ShopifyOptions {
  settings: ConnectionSettings
  secret: string
  tokens: TokenStore
  budget: Budget
  log: CallLog
}

/** The scopes that the syncs need, and those that the stock push needs. */
const syncScopes = ['read_customers', 'read_inventory', 'read_locations', 'read_products'] as const
const pushScopes = ['write_inventory', 'read_orders', 'read_merchant_managed_fulfillment_orders'] as const

/** Opens a shop on Shopify: the Admin GraphQL API with client credentials. */
export function openShopify({ settings, secret, tokens, budget, log }: ShopifyOptions): EcommercePlatform {
  const { url, clientId, apiVersion } = settings
  if (clientId === null || apiVersion === null) throw new Error('the connection has no clientId or apiVersion')
  const open = (priority: PriorityClass) =>
    createShopifyClient({
      url,
      apiVersion,
      tokens: openTokens(tokens, { url, clientId, secret }),
      budget,
      priority,
      log,
    })
  const client = open('background')
  const requiredScopes = settings.stockPush === 'off' ? syncScopes : [...syncScopes, ...pushScopes]
  return {
    syncs: listSyncs(client, settings.intervals),
    inventory: createInventory({ push: open('stock'), background: client }),
    probe: signal => probe(client, apiVersion, requiredScopes, signal),
    events: {
      ...createSubscriptions(client, signal => readScopes(client, signal)),
      maxIds,
      async findExisting(ids, signal) {
        const operation = { ...operations.existing, cost: ids.length * operations.existing.cost }
        const { nodes } = await client.send<{ nodes: ({ id: string } | null)[] }>(operation, { ids }, signal)
        return new Set(nodes.flatMap(node => node?.id ?? []))
      },
    },
  }
}

/** The longest list that a request can have. */
const maxIds = 250

interface ShopData {
  shop: {
    name: string
    currencyCode: string
    ianaTimezone: string
    taxesIncluded: boolean
    plan: { publicDisplayName: string }
  }
}

interface AccessData {
  currentAppInstallation: { accessScopes: { handle: string }[] }
}

/** Returns the scopes of the app. A scope to write includes the scope to read. */
async function readScopes(client: ShopifyClient, signal: AbortSignal): Promise<Set<string>> {
  const { currentAppInstallation } = await client.send<AccessData>(operations.access, {}, signal)
  const handles = currentAppInstallation.accessScopes.map(({ handle }) => handle)
  return new Set(handles.flatMap(handle => [handle, handle.replace('write_', 'read_')]))
}

/** Reads the shop and the app's access to it. */
async function probe(
  client: ShopifyClient,
  apiVersion: string,
  requiredScopes: readonly string[],
  signal: AbortSignal,
): Promise<ProbeResult> {
  const { shop } = await client.send<ShopData>(operations.shop, {}, signal)
  const granted = await readScopes(client, signal)
  const missingScopes = requiredScopes.filter(scope => !granted.has(scope))
  return {
    shop: shop.name,
    currency: shop.currencyCode,
    timeZone: shop.ianaTimezone,
    taxesIncluded: shop.taxesIncluded,
    plan: shop.plan.publicDisplayName,
    missingScopes,
    hasProtectedData: missingScopes.includes('read_customers') ? false : await canReadEmails(client, signal),
    version: { name: apiVersion, endsOn: getLastDay(apiVersion) },
  }
}

async function canReadEmails(client: ShopifyClient, signal: AbortSignal): Promise<boolean> {
  try {
    await client.send(operations.protectedData, {}, signal)
    return true
  } catch (error) {
    if (error instanceof PlatformFailure && error.kind === 'scope') return false
    throw error
  }
}

/** Each version is supported for 12 months. */
function getLastDay(apiVersion: string): string {
  const [year = 0, month = 1] = apiVersion.split('-').map(Number)
  return new Date(Date.UTC(year + 1, month - 1, 1)).toISOString().slice(0, 10)
}

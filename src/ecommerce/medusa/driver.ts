import type { ConnectionSettings } from '../../domain/ecommerce/connection-settings.ts'
import { PlatformFailure } from '../../domain/ecommerce/platform-failure.ts'
import type { CallLog, EcommercePlatform, ProbeResult } from '../port/platform.ts'
import { createMedusaClient, type MedusaClient } from './client.ts'
import { createInventory } from './inventory.ts'
import { listSyncs } from './syncs.ts'

/** Opens a Medusa: its Admin REST API with a secret API key. It sends no events, so all changes are read. */
export function openMedusa({
  settings: { url, intervals },
  secret,
  log,
}: {
  settings: ConnectionSettings
  secret: string
  log: CallLog
}): EcommercePlatform {
  const client = createMedusaClient({ url, secret, log })
  return {
    syncs: listSyncs(client, intervals),
    inventory: createInventory(client),
    probe: signal => probe(client, signal),
  }
}

interface Stores {
  stores: { name: string; supported_currencies: { currency_code: string; is_default: boolean }[] }[]
}

interface PricePreferences {
  price_preferences: { attribute: string; value: string | null; is_tax_inclusive: boolean }[]
}

/** Reads the store. A secret API key has no scopes: it can read and write everything. */
async function probe(client: MedusaClient, signal: AbortSignal): Promise<ProbeResult> {
  const fields = 'name,supported_currencies.currency_code,supported_currencies.is_default'
  const { stores } = await client.get<Stores>('/admin/stores', { fields }, signal)
  const [store] = stores
  const currency = store?.supported_currencies.find(({ is_default }) => is_default)?.currency_code
  if (!store || currency === undefined) throw new PlatformFailure('invalid', 'The platform has no default currency.')
  const query = { attribute: 'currency_code', value: currency }
  const { price_preferences } = await client.get<PricePreferences>('/admin/price-preferences', query, signal)
  return {
    shop: store.name,
    currency: currency.toUpperCase(),
    timeZone: null,
    taxesIncluded: price_preferences.some(({ is_tax_inclusive }) => is_tax_inclusive),
    plan: null,
    missingScopes: [],
    hasProtectedData: true,
    version: null,
  }
}

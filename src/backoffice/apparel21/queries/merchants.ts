import { memoize } from '../../../concurrency/ttl-cache.ts'
import type { ApiError } from '../../../errors/api-error.ts'
import type { Client } from '../client/client.ts'
import { createRejection } from '../client/errors.ts'
import { findElements, readText } from '../xml/values.ts'

/** The reference type of sales payment gateways (SPayGate). */
const gatewayReferenceType = '431'
const unknownGateway = 5100

/** Returns the error of the first gateway that the back office doesn't know, as a write would. Undefined: none, or it can't be determined. */
export type FindUnknownMerchant = (
  gateways: readonly (string | null)[],
) => Promise<{ index: number; error: ApiError } | undefined>

/**
 * Creates a check of merchants for dry runs, which send no order. The Retail API has no list of merchants, but in some installations the
 * codes of the payment gateways are the merchant identifiers. The list counts only if it contains another merchant of the settings.
 */
export function createMerchantCheck(client: Client, ttlMs: number): FindUnknownMerchant {
  const load = memoize(async () => {
    const roots = ['ReferencesbyType', 'ReferencesByType']
    const root = await client.document({ endpoint: 'references', path: ['References', gatewayReferenceType], roots })
    return new Set(
      findElements(root, 'References', 'Reference').flatMap(reference =>
        ['Code', 'Name'].flatMap(name => readText(reference, name)?.toLowerCase() ?? []),
      ),
    )
  }, ttlMs)
  return async gateways => {
    const merchants = client.connection.gateways ?? {}
    const isListed = (names: ReadonlySet<string>, gateway: string | null) => {
      const merchantId =
        gateway !== null && Object.hasOwn(merchants, gateway) ? merchants[gateway]?.merchantId : undefined
      return merchantId === undefined ? undefined : names.has(merchantId.toLowerCase())
    }
    if (gateways.every(gateway => isListed(new Set(), gateway) === undefined)) return
    const listed = await load().catch(() => new Set<string>())
    if (!Object.keys(merchants).some(gateway => isListed(listed, gateway))) return
    const index = gateways.findIndex(gateway => isListed(listed, gateway) === false)
    return index < 0 ? undefined : { index, error: createRejection('orders', unknownGateway) }
  }
}

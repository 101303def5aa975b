import type { Faults } from '../faults/faults.ts'
import type { Clock } from '../shop/clock.ts'
import type { ShopifyChange } from './changes.ts'
import type { ShopifyFault } from './fault.ts'
import type { ShopifySettings } from './settings.ts'
import type { Shop } from './state.ts'

/** A request that the simulator received, and its result. */
export interface ShopifyCall {
  at: number
  operation: string
  version: string
  variables: unknown
  status: number | null
  /** The points that the request must reserve, and those that it was charged. */
  requestedCost: number
  actualCost: number
  isThrottled: boolean
  errors: string[]
  faults: string[]
}

export interface ShopifySimulator {
  /** The address of the shop, such as `http://127.0.0.1:8031`. */
  readonly url: string
  readonly controlUrl: string
  readonly shop: Shop
  readonly settings: Readonly<ShopifySettings>
  readonly calls: readonly ShopifyCall[]
  /** The number of tokens that were granted. */
  readonly grantedTokens: number
  readonly faults: Faults<ShopifyFault>
  readonly clock: Clock
  /** Throws a TypeError if a setting is invalid. */
  set(changes: Partial<ShopifySettings>): void
  /** Applies a change by the merchant or a shopper. Returns the ID of the record. */
  change(change: ShopifyChange): number
  /** Invalidates all tokens. */
  revokeTokens(): void
  reset(seed?: string): void
  close(): Promise<void>
}

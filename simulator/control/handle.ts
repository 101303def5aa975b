import type { Faults } from '../faults/faults.ts'
import type { Clock } from '../shop/clock.ts'
import type { Shop } from '../shop/shop.ts'
import type { Ledger } from '../world/ledger.ts'
import type { Settings } from '../world/settings.ts'
import type { Change } from './changes.ts'

export interface Simulator {
  /** The base URL of the API: `http://127.0.0.1:8021/RetailAPI/`. */
  readonly url: string
  /** The URL of the control API: `http://127.0.0.1:8021/_simulator`. */
  readonly controlUrl: string
  readonly state: Shop
  readonly settings: Readonly<Settings>
  readonly ledger: Ledger
  readonly faults: Faults
  readonly clock: Clock
  /** Changes settings. Throws a TypeError if one is invalid. */
  set(changes: Partial<Settings>): void
  /** Applies a change in the back office. Returns the ID of the changed record. */
  change(change: Change): string
  /** Closes the port and open connections, until `accept` is called or for a number of seconds. */
  stopAccepting(seconds?: number): Promise<void>
  accept(): Promise<void>
  /** Resets the shop, clock, faults and ledger, if required with another seed. Settings stay. */
  reset(seed?: string): void
  close(): Promise<void>
}

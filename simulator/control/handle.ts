import type { Faults } from '../faults/faults.ts'
import type { Clock } from '../shop/clock.ts'
import type { Shop } from '../shop/shop.ts'
import type { Ledger } from '../world/ledger.ts'
import type { Settings } from '../world/settings.ts'
import type { Change } from './changes.ts'

/** A retail API that runs. */
export interface Simulator {
  /** The base: `http://127.0.0.1:8021/RetailAPI/`. */
  readonly url: string
  /** The control surface: `http://127.0.0.1:8021/_simulator`. */
  readonly controlUrl: string
  readonly state: Shop
  readonly settings: Readonly<Settings>
  readonly ledger: Ledger
  readonly faults: Faults
  readonly clock: Clock
  /** Throws a TypeError for a setting that cannot be. */
  set(changes: Partial<Settings>): void
  /** What somebody at head office does; returns the identifier of what changed. */
  change(change: Change): string
  /** Refuses connections until `accept`, or for so many seconds: the port is closed, and what is open is cut. */
  refuse(seconds?: number): Promise<void>
  accept(): Promise<void>
  /** The shop, clock, faults and ledger as at the start, perhaps with another seed. Settings stay. */
  reset(seed?: string): void
  close(): Promise<void>
}

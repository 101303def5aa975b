import type { Clock, Wall } from '../shop/clock.ts'
import type { Random } from '../shop/random.ts'
import type { Shop } from '../shop/shop.ts'
import type { EffectKind } from './ledger.ts'
import { type Feature, firstReleases, isAtLeast } from './release.ts'
import type { Settings } from './settings.ts'

/** The shop and its environment, which requests and back-office changes read and change. */
export interface World {
  readonly settings: Settings
  readonly clock: Clock
  readonly shop: Shop
  readonly random: Random
  /** Records a change of the shop in the ledger. */
  recordEffect(kind: EffectKind, id: string | number, facts?: Record<string, unknown>): void
}

/** True if the installed release has a feature. */
export const hasFeature = (world: Pick<World, 'settings'>, feature: Feature) =>
  isAtLeast(world.settings.release, firstReleases[feature])

/** True if a change is after a time. A setting decides if the same second counts, because the behaviour of the real API is unknown. */
export const isAfter = ({ settings }: Pick<World, 'settings'>, when: Wall, since: Wall) =>
  settings.updatedAfter === 'from' ? when >= since : when > since

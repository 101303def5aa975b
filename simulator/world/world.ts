import type { Clock, Wall } from '../shop/clock.ts'
import type { Random } from '../shop/random.ts'
import type { Shop } from '../shop/shop.ts'
import type { EffectKind } from './ledger.ts'
import { atLeast, type Feature, firstReleases } from './release.ts'
import type { Settings } from './settings.ts'

/** The data that requests and back-office changes act upon. */
export interface World {
  readonly settings: Settings
  readonly clock: Clock
  readonly shop: Shop
  readonly random: Random
  /** Notes that something changed. */
  note(kind: EffectKind, id: string | number, facts?: Record<string, unknown>): void
}

/** True if the installed release has a feature. */
export const has = (world: Pick<World, 'settings'>, feature: Feature) =>
  atLeast(world.settings.release, firstReleases[feature])

/** True if a change is after a time. A setting decides if the same second counts, because the real behaviour is unknown. */
export const isAfter = ({ settings }: Pick<World, 'settings'>, when: Wall, since: Wall) =>
  settings.updatedAfter === 'from' ? when >= since : when > since

import type { Clock, Wall } from '../shop/clock.ts'
import type { Random } from '../shop/random.ts'
import type { Shop } from '../shop/shop.ts'
import type { EffectKind } from './ledger.ts'
import { atLeast, type Feature, firstReleases } from './release.ts'
import type { Settings } from './settings.ts'

/** What a request, or somebody at head office, acts upon. */
export interface World {
  readonly settings: Settings
  readonly clock: Clock
  readonly shop: Shop
  readonly random: Random
  /** Notes that something changed. */
  note(kind: EffectKind, id: string | number, facts?: Record<string, unknown>): void
}

/** Whether the installed release has something. */
export const has = (world: Pick<World, 'settings'>, feature: Feature) =>
  atLeast(world.settings.release, firstReleases[feature])

/** Whether a change counts as after a time: whether the second itself does is not known, and can be set. */
export const isAfter = ({ settings }: Pick<World, 'settings'>, when: Wall, since: Wall) =>
  settings.updatedAfter === 'from' ? when >= since : when > since

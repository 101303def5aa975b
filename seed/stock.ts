import { type Place, places, warehouse } from './places.ts'
import type { Style } from './products.ts'
import { drawFrom, type Random, randomFor } from './random.ts'
import { storeId } from './stores.ts'

const onShelf = drawFrom([
  [0, 14],
  [1, 18],
  [2, 22],
  [3, 16],
  [4, 11],
  [5, 7],
  [6, 5],
  [8, 4],
  [12, 2],
] as const)

/** Yields the stock as rows for `upsertStock`. Busy shops keep more of the range, the warehouse nearly all of it. */
export function stockRows(styles: readonly Style[]) {
  const random = randomFor('stock')
  return places.flatMap(place => {
    const share = place === warehouse ? 0.97 : 0.38 + place.weight / 40
    const stocked = styles.filter(() => random.chance(share + 0.1))
    return stocked.flatMap(style =>
      style.colours
        .filter(() => random.chance(share + 0.1))
        .flatMap(colour =>
          colour.sizes.map(size => ({
            storeId: storeId(place),
            skuId: size.id,
            freeStock: units(random, place, colour.markdownStatus === 'clearance'),
            // Some sizes have a larger buffer.
            buffer: random.chance(0.015) ? random.integer(2, 5) : null,
          })),
        ),
    )
  })
}

/** A negative figure: units that were sold before they were booked in. */
function units(random: Random, place: Place, clearance: boolean) {
  if (random.chance(0.004)) return -random.integer(1, 3)
  const shelf = onShelf(random)
  if (clearance) return Math.floor(shelf / 2)
  return place === warehouse ? shelf * random.integer(4, 18) : shelf
}

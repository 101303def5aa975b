import { drawPerson, toPlainLetters } from './names.ts'
import { type Place, places, warehouse } from './places.ts'
import { randomFor } from './random.ts'

const domain = 'currawick.example.com'

/** Returns the ID of a place in the back office. */
export const getStoreId = (place: Place) => `1${place.number}`

/** Builds the stores as rows for `upsertStores`. */
export const buildStoreRows = () =>
  places.map(place => ({
    storeId: getStoreId(place),
    storeNumber: place.number,
    code: place.code,
    name: place.name,
    email: `${place.name.toLowerCase().replaceAll(' ', '.')}@${domain}`,
    addressLine1: place.line1,
    addressLine2: place.line2 ?? null,
    city: place.city,
    state: place.state,
    postcode: place.postcode,
    country: place.country,
    ecommerceLocationId: place.location ?? null,
    inventoryBuffer: place.buffer ?? null,
  }))

/** Builds the staff as rows for `upsertStaff`: three to eight people per store, six in the warehouse. A few have left. */
export function buildStaffRows() {
  const random = randomFor('staff')
  const codes = new Map<string, number>()
  const addresses = new Map<string, number>()
  /** Returns the name, with a number if it is taken. */
  const makeUnique = (counts: Map<string, number>, name: string) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return count === 1 ? name : `${name}${count}`
  }
  let id = 300
  return places.flatMap(place => {
    const count = place === warehouse ? 6 : Math.min(8, 3 + Math.floor(place.weight / 4) + random.integer(0, 1))
    return Array.from({ length: count }, () => {
      const { firstname, surname } = drawPerson(random)
      const code = `${toPlainLetters(firstname).slice(0, 1)}${toPlainLetters(surname).slice(0, 7)}`.toUpperCase()
      return {
        id: String(++id),
        code: makeUnique(codes, code),
        firstname,
        surname,
        email: `${makeUnique(addresses, `${toPlainLetters(firstname)}.${toPlainLetters(surname)}`)}@${domain}`,
        storeNumber: place.number,
        active: !random.chance(0.07),
      }
    })
  })
}

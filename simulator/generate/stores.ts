import type { Random } from '../shop/random.ts'
import type { Address, Store } from '../shop/records.ts'
import { centres, places, streets } from './words.ts'

export const noAddress: Address = {
  contactName: '',
  companyName: '',
  line1: '',
  line2: '',
  city: '',
  state: '',
  postcode: '',
  country: '',
}

export function drawAddress(random: Random): Address {
  const [city = '', state = '', postcode = '', country = ''] = random.pick(places)
  const line1 = `${random.integer(1, 480)} ${random.pick(streets)}`
  return { ...noAddress, line1, line2: random.chance(0.1) ? 'Unit 2' : '', city, state, postcode, country }
}

const capitalize = (text: string) => text.charAt(0) + text.slice(1).toLowerCase()

/** Creates the locations with stock: shops, about one warehouse per ten shops, and a web store, which is no physical location. */
export function makeStores(count: number, random: Random): Map<number, Store> {
  const warehouses = Math.max(1, Math.round(count * 0.09))
  const shops = Math.max(1, count - warehouses - 1)
  const stores: Store[] = []
  const add = (kind: Store['kind'], number: string, name: string, email: string) => {
    const column = stores.length
    const id = 7_101 + column
    const generated = drawAddress(random)
    const address = { ...generated, city: capitalize(generated.city), country: capitalize(generated.country) }
    stores.push({
      id,
      column,
      code: `S${id}`,
      number,
      name: name || `${address.city} ${random.pick(centres)} Level ${1 + (column % 3)}`,
      address,
      email,
      kind,
    })
  }
  for (let i = 0; i < shops; i++) {
    // Numbers are strings. Some have leading zeros.
    const number = i % 5 === 2 ? String(i + 6).padStart(3, '0') : String(101 + i)
    const name = i === 3 ? 'DFO Essendon Airport ' : ''
    add('shop', number, name, random.chance(0.8) ? `store${number}@example.test` : '')
  }
  for (let i = 0; i < warehouses; i++) add('warehouse', '', `Distribution Centre ${i + 1}`, '')
  add('web', '999', 'Web Store', '')
  // The real API returns the stores of a SKU in arbitrary order.
  return new Map(random.shuffle(stores).map(store => [store.id, store]))
}

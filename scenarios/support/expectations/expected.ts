import type { Person, Sku, Store, Style, Transaction } from '../../../simulator/shop/records.ts'
import type { Lot, RewardAccount } from '../../../simulator/shop/sales.ts'
import type { Shop } from '../../../simulator/shop/shop.ts'

/** Records that the API must return, by ID. Fields that the API doesn't take from the back office are left out. */
export type Expected = Map<string, object>

/** Trims a string and normalises its line breaks; an empty string is null. */
const clean = (text: string) => text.replaceAll('\r\n', '\n').trim() || null
const dollars = (amount: number) => amount.toFixed(2)
const byId = <T extends { id: number }>(list: Iterable<T>, of: (item: T) => object): Expected =>
  new Map([...list].map(item => [String(item.id), { id: String(item.id), ...of(item) }]))

export const shops = ({ stores }: Shop) => [...stores.values()].filter(({ kind }) => kind === 'shop')
/** The web store doesn't export the style for freight. */
const exported = ({ styles }: Shop) => [...styles.values()].filter(({ special }) => special !== 'freight')
const skusOf = ({ colours }: Style): Sku[] => colours.flatMap(({ skus }) => skus)

/** The stores, and the warehouses and web stores, which only stock and orders name. */
export const locations = (shop: Shop) => [...shop.stores.values()]

export const storesOf = (shop: Shop): Expected =>
  new Map(locations(shop).map(store => [String(store.id), store.kind === 'shop' ? storeOf(store) : locationOf(store)]))

const locationOf = ({ id, number, name, kind }: Store) => ({
  storeId: String(id),
  storeNumber: number.trim() || String(id),
  name: name.trim(),
  kind,
})

const storeOf = ({ id, code, number, name, email, address }: Store) => ({
  storeId: String(id),
  storeNumber: number.trim(),
  code: clean(code),
  name: name.trim(),
  email: clean(email),
  address: {
    addressLine1: clean(address.line1),
    addressLine2: clean(address.line2),
    city: clean(address.city),
    state: clean(address.state),
    postcode: clean(address.postcode),
    country: clean(address.country),
  },
})

const markdowns = { None: 'none', Temporary: 'markdown', Permanent: 'clearance', TempPermanent: 'clearance' }

export const productsOf = (shop: Shop): Expected =>
  byId(exported(shop), style => ({
    productCode: style.code.trim(),
    name: style.name.trim(),
    description: clean(style.description),
    sizeRange: clean(style.sizeRange),
    currency: 'AUD',
    references: referencesOf(style.references, shop),
    colours: style.colours
      .filter(({ skus }) => skus.length)
      .map(({ id, code, name, markdown, skus }) => ({
        id: String(id),
        code: clean(code),
        name: clean(name),
        markdownStatus: markdowns[markdown],
        sizes: skus.map(sku => ({
          skuId: String(sku.id),
          sizeCode: sku.size.trim(),
          price: dollars(sku.price),
          originalPrice: dollars(sku.originalPrice),
          barcode: clean(sku.barcode),
        })),
      })),
  }))

/** Free stock of exported SKUs in every shop, by `<storeId>-<skuId>`. */
export const stockOf = (shop: Shop): Map<string, number> =>
  new Map(
    exported(shop)
      .flatMap(skusOf)
      .flatMap(({ id, row }) =>
        locations(shop).map((store): [string, number] => [`${store.id}-${id}`, shop.stock.at(row, store.column)]),
      ),
  )

const words = (name: string) => name.replace(/\W+/g, ' ').trim().toLowerCase().split(' ')
/** Converts a name to camelCase: `E-mail Opt-in` is `eMailOptIn`. */
const camel = (name: string) =>
  words(name)
    .map((word, i) => (i ? word.charAt(0).toUpperCase() + word.slice(1) : word))
    .join('')

const referencesOf = (references: ReadonlyMap<number, number>, { referenceTypes }: Shop) =>
  Object.fromEntries(
    [...references].map(([typeId, id]) => {
      const type = referenceTypes.get(typeId)
      const { code = '', name = '' } = type?.references.get(id) ?? {}
      return [camel(type?.name ?? ''), { referenceValueId: String(id), code: clean(code), name: clean(name) }]
    }),
  )

export const customersOf = (shop: Shop): Expected => byId(shop.persons.values(), person => customerOf(person, shop))

function customerOf(person: Person, shop: Shop) {
  const { billing, privacy } = person
  const [loyalty] = person.loyalties
    .filter(({ active }) => active)
    .sort((a, b) => b.joinDate.localeCompare(a.joinDate) || b.id - a.id)
  const type = loyalty && shop.referenceTypes.get(366)?.references.get(loyalty.typeId)
  return {
    code: clean(person.code),
    title: clean(person.title),
    firstname: clean(person.firstname),
    surname: clean(person.surname),
    dateOfBirth: clean(person.dateOfBirth),
    privacy,
    startDate: person.startDate && `${person.startDate} 00:00:00`,
    contact: {
      email: clean(person.email),
      phones: { home: clean(person.home), mobile: clean(person.mobile), work: clean(person.work) },
    },
    address: {
      addressLine1: clean(billing.line1),
      addressLine2: clean(billing.line2),
      city: clean(billing.city),
      state: clean(billing.state),
      postcode: clean(billing.postcode),
      country: clean(billing.country),
    },
    references: referencesOf(person.references, shop),
    emailSubscription: !privacy && person.references.get(1322) === 4421,
    loyaltyCode: type?.code ?? null,
    loyaltyName: type?.name ?? null,
  }
}

const types = {
  Sale: 'sale',
  Layby: 'layby',
  'Layby Update': 'laybyUpdate',
  'Special Order': 'specialOrder',
  'Special Order Update': 'specialOrderUpdate',
}

/** Sales to known customers: other sales are in no list. */
export const transactionsOf = (shop: Shop): Expected =>
  byId(
    shop.transactions.filter(({ personId }) => personId !== null),
    sale => transactionOf(sale, shop),
  )

const transactionOf = (sale: Transaction, { stores, skus }: Shop) => ({
  number: sale.number,
  orderNumber: clean(sale.orderNumber),
  type: types[sale.type],
  currency: sale.currency,
  saleDate: `${sale.day} 00:00:00`,
  customerId: String(sale.personId),
  storeNumber: stores.get(sale.storeId)?.number,
  total: dollars(sale.lines.reduce((sum, { value }) => sum + value, 0)),
  lines: sale.lines.map(({ id, skuId, quantity, price, value }) => {
    const sku = skus.get(skuId)
    const colour = sku?.colour
    return {
      id: String(id),
      quantity,
      price: dollars(price),
      value: dollars(value),
      sizeCode: sku?.size,
      productCode: colour?.style.code,
      productName: colour?.style.name.trim(),
      colourCode: colour?.code,
    }
  }),
})

/** Reward accounts with their lots, in the columns of our tables. Expired lots are left out. */
export const accountsOf = ({ accounts }: Shop, today: string): Expected =>
  byId(accounts.values(), account => ({
    customerId: String(account.personId),
    programId: String(account.programId),
    tierId: String(account.tierId),
    lots: lotsOf(account, today),
  }))

function lotsOf({ points, rewards, gifts }: RewardAccount, today: string) {
  const isOpen = ({ expires }: { expires: string }) => expires === '' || expires >= today
  const lot = (kind: string, { id, total, redeemed, pending }: Pick<Lot, 'id' | 'total' | 'redeemed' | 'pending'>) =>
    `${kind} ${id}: ${total} ${redeemed} ${pending}`
  return [
    ...points.filter(isOpen).map(point => lot('points', point)),
    ...rewards.filter(isOpen).map(item => lot('reward', item)),
    ...gifts
      .filter(isOpen)
      .map(({ id, available }) => lot('gift', { id, total: 1, redeemed: available ? 0 : 1, pending: 0 })),
  ].sort()
}

import type { Person, Sku, Store, Style, Transaction } from '../../../simulator/shop/records.ts'
import type { Lot, RewardAccount } from '../../../simulator/shop/sales.ts'
import type { Shop } from '../../../simulator/shop/shop.ts'

/** Records that the API must return, by ID, with only the fields that come from the back office. */
export type Expected = Map<string, object>

/** Trims a string and normalises its line breaks; an empty string is null. */
const cleanText = (text: string) => text.replaceAll('\r\n', '\n').trim() || null
const formatDollars = (amount: number) => amount.toFixed(2)
const mapById = <T extends { id: number }>(list: Iterable<T>, toFields: (item: T) => object): Expected =>
  new Map([...list].map(item => [String(item.id), { id: String(item.id), ...toFields(item) }]))

export const listShops = ({ stores }: Shop) => [...stores.values()].filter(({ kind }) => kind === 'shop')
/** The web store doesn't export the style for freight. */
const listExportedStyles = ({ styles }: Shop) => [...styles.values()].filter(({ special }) => special !== 'freight')
const listSkus = ({ colours }: Style): Sku[] => colours.flatMap(({ skus }) => skus)

/** The stores, and the warehouses and web stores, which only stock and orders name. */
export const listLocations = (shop: Shop) => [...shop.stores.values()]

export const toExpectedStores = (shop: Shop): Expected =>
  new Map(
    listLocations(shop).map(store => [String(store.id), store.kind === 'shop' ? toStore(store) : toLocation(store)]),
  )

const toLocation = ({ id, number, name, kind }: Store) => ({
  storeId: String(id),
  storeNumber: number.trim() || String(id),
  name: name.trim(),
  kind,
})

const toStore = ({ id, code, number, name, email, address }: Store) => ({
  storeId: String(id),
  storeNumber: number.trim(),
  code: cleanText(code),
  name: name.trim(),
  email: cleanText(email),
  address: {
    addressLine1: cleanText(address.line1),
    addressLine2: cleanText(address.line2),
    city: cleanText(address.city),
    state: cleanText(address.state),
    postcode: cleanText(address.postcode),
    country: cleanText(address.country),
  },
})

const markdowns = { None: 'none', Temporary: 'markdown', Permanent: 'clearance', TempPermanent: 'clearance' }

export const toExpectedProducts = (shop: Shop): Expected =>
  mapById(listExportedStyles(shop), style => ({
    productCode: style.code.trim(),
    name: style.name.trim(),
    description: cleanText(style.description),
    sizeRange: cleanText(style.sizeRange),
    currency: 'AUD',
    references: toReferences(style.references, shop),
    colours: style.colours
      .filter(({ skus }) => skus.length)
      .map(({ id, code, name, markdown, skus }) => ({
        id: String(id),
        code: cleanText(code),
        name: cleanText(name),
        markdownStatus: markdowns[markdown],
        sizes: skus.map(sku => ({
          skuId: String(sku.id),
          sizeCode: sku.size.trim(),
          price: formatDollars(sku.price),
          originalPrice: formatDollars(sku.originalPrice),
          barcode: cleanText(sku.barcode),
        })),
      })),
  }))

/** Free stock of exported SKUs in every shop, by `<storeId>-<skuId>`. */
export const listExpectedStock = (shop: Shop): Map<string, number> =>
  new Map(
    listExportedStyles(shop)
      .flatMap(listSkus)
      .flatMap(({ id, row }) =>
        listLocations(shop).map((store): [string, number] => [`${store.id}-${id}`, shop.stock.get(row, store.column)]),
      ),
  )

const splitWords = (name: string) => name.replace(/\W+/g, ' ').trim().toLowerCase().split(' ')
/** Converts a name to camelCase: `E-mail Opt-in` is `eMailOptIn`. */
const toCamelCase = (name: string) =>
  splitWords(name)
    .map((word, i) => (i ? word.charAt(0).toUpperCase() + word.slice(1) : word))
    .join('')

const toReferences = (references: ReadonlyMap<number, number>, { referenceTypes }: Shop) =>
  Object.fromEntries(
    [...references].map(([typeId, id]) => {
      const type = referenceTypes.get(typeId)
      const { code = '', name = '' } = type?.references.get(id) ?? {}
      return [
        toCamelCase(type?.name ?? ''),
        { referenceValueId: String(id), code: cleanText(code), name: cleanText(name) },
      ]
    }),
  )

export const toExpectedCustomers = (shop: Shop): Expected =>
  mapById(shop.persons.values(), person => toCustomer(person, shop))

function toCustomer(person: Person, shop: Shop) {
  const { billing, privacy } = person
  const [loyalty] = person.loyalties
    .filter(({ active }) => active)
    .sort((a, b) => b.joinDate.localeCompare(a.joinDate) || b.id - a.id)
  const type = loyalty && shop.referenceTypes.get(366)?.references.get(loyalty.typeId)
  return {
    code: cleanText(person.code),
    title: cleanText(person.title),
    firstname: cleanText(person.firstname),
    surname: cleanText(person.surname),
    dateOfBirth: cleanText(person.dateOfBirth),
    privacy,
    startDate: person.startDate && `${person.startDate} 00:00:00`,
    contact: {
      email: cleanText(person.email),
      phones: { home: cleanText(person.home), mobile: cleanText(person.mobile), work: cleanText(person.work) },
    },
    address: {
      addressLine1: cleanText(billing.line1),
      addressLine2: cleanText(billing.line2),
      city: cleanText(billing.city),
      state: cleanText(billing.state),
      postcode: cleanText(billing.postcode),
      country: cleanText(billing.country),
    },
    references: toReferences(person.references, shop),
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

/** Sales with a customer. Sales without a customer are in no list. */
export const toExpectedTransactions = (shop: Shop): Expected =>
  mapById(
    shop.transactions.filter(({ personId }) => personId !== null),
    sale => toTransaction(sale, shop),
  )

const toTransaction = (sale: Transaction, { stores, skus }: Shop) => ({
  number: sale.number,
  orderNumber: cleanText(sale.orderNumber),
  type: types[sale.type],
  currency: sale.currency,
  saleDate: `${sale.day} 00:00:00`,
  customerId: String(sale.personId),
  storeNumber: stores.get(sale.storeId)?.number,
  total: formatDollars(sale.lines.reduce((sum, { value }) => sum + value, 0)),
  lines: sale.lines.map(({ id, skuId, quantity, price, value }) => {
    const sku = skus.get(skuId)
    const colour = sku?.colour
    return {
      id: String(id),
      quantity,
      price: formatDollars(price),
      value: formatDollars(value),
      sizeCode: sku?.size,
      productCode: colour?.style.code,
      productName: colour?.style.name.trim(),
      colourCode: colour?.code,
    }
  }),
})

/** Reward accounts with their lots, in the columns of our tables. Expired lots are left out. */
export const toExpectedAccounts = ({ accounts }: Shop, today: string): Expected =>
  mapById(accounts.values(), account => ({
    customerId: String(account.personId),
    programId: String(account.programId),
    tierId: String(account.tierId),
    lots: listLots(account, today),
  }))

function listLots({ points, rewards, gifts }: RewardAccount, today: string) {
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

import { type Random, randomFor } from '../../seed/random.ts'
import { mergeLines, type TransactionParts } from '../../src/domain/orders/merge-lines.ts'

/** Generated rows of a table in the form that `COPY` reads: columns, and a value for each. */
export interface GeneratedTable {
  table: string
  columns: readonly string[]
  /** The same rows every time, in the order of their changes. */
  rows(serviceId: number, count: number): Iterable<readonly (string | number | boolean | null)[]>
}

/** The time of the newest change, and the `updated_after` of the bench. */
const newest = Date.parse('2024-06-30T12:00:00Z')
export const lastHour = '2024-06-30T11:00:00Z'

/** Returns the time of change `i`. The changes cover three years, and one in a hundred is in the last hour. */
function toChangeTime(i: number, count: number) {
  const recentCount = Math.ceil(count / 100)
  const olderCount = count - recentCount
  const [from, ms, steps, step] =
    i < olderCount
      ? [newest - 3 * 365 * 86_400_000, 3 * 364 * 86_400_000, olderCount, i]
      : [newest - 3_590_000, 3_590_000, recentCount, i - olderCount]
  return new Date(from + Math.floor((ms * step) / steps))
}

const formatLocalTime = (time: Date) => time.toISOString().slice(0, 19).replace('T', ' ')
const renderTimestamp = (time: Date) => `,"updateTimeStamp":"${formatLocalTime(time)}"`
const renderUnclosed = (record: object) => JSON.stringify(record).slice(0, -1)

const firstnames = 'Olivia Jack Aroha Wiremu Linh Minh Aoife Seán Giulia Marco Priya Arjun Grace Noah Ruby Liam'.split(
  ' ',
)
const surnames =
  "Smith Nguyen O'Brien Parata Rossi Sharma Wilson Taylor Kelly Lee McKenna Ngata Papadopoulos Brown".split(' ')
const streets = 'Collins Street,Bourke Street,Chapel Street,Queen Street,Lygon Street,George Street'.split(',')
const cities = [
  ['Melbourne', 'VIC', '3000'],
  ['Sydney', 'NSW', '2000'],
  ['Brisbane', 'QLD', '4000'],
  ['Perth', 'WA', '6000'],
] as const

const randomDigits = (random: Random, count: number) => String(random.integer(0, 10 ** count - 1)).padStart(count, '0')

/** Customers, each with the record that `upsertCustomers` would render from its columns. */
export const customers: GeneratedTable = {
  table: 'customer',
  columns: (
    'service_id id code title firstname surname date_of_birth start_date email phone_mobile address_line1 city state postcode country ' +
    'privacy email_subscription sms_subscription loyalty_code loyalty_name joined_store_id ecommerce_admin_id ecommerce_legacy_id ' +
    'changed_at record ecommerce_ids'
  ).split(' '),
  *rows(serviceId, count) {
    const random = randomFor('bench customers')
    for (let i = 0; i < count; i++) {
      const changed = toChangeTime(i, count)
      const id = String(100_001 + i)
      const firstname = random.pick(firstnames)
      const surname = random.pick(surnames)
      const [city, state, postcode] = random.pick(cities)
      const emailSubscription = random.chance(0.5)
      const legacyId = random.chance(0.6) ? `6477${randomDigits(random, 9)}` : null
      const loyal = random.chance(0.5)
      const customer = {
        id,
        code: `${surname.slice(0, 4).toUpperCase()}${id}`,
        title: random.chance(0.5) ? 'Ms' : null,
        firstname,
        surname,
        dateOfBirth: `19${random.integer(40, 99)}-0${random.integer(1, 9)}-1${random.integer(0, 9)}`,
        startDate: `20${random.integer(10, 20)}-1${random.integer(0, 2)}-0${random.integer(1, 9)} 00:00:00`,
        privacy: !emailSubscription,
        emailSubscription,
        smsSubscription: false,
        contact: {
          email: `${firstname.toLowerCase()}.${id}@example.com`,
          phones: { home: null, mobile: `+61 4${randomDigits(random, 8)}`, work: null },
        },
        address: {
          addressLine1: `${random.integer(1, 400)} ${random.pick(streets)}`,
          addressLine2: null,
          city,
          state,
          postcode,
          country: 'Australia',
        },
        references: {},
        loyaltyCode: loyal ? '99' : null,
        loyaltyName: loyal ? 'Gold' : null,
        ...random.pick(joinedStores),
      }
      const adminId = legacyId === null ? null : `gid://shop/Customer/${legacyId}`
      const { contact, address } = customer
      yield [
        serviceId,
        id,
        customer.code,
        customer.title,
        firstname,
        surname,
        customer.dateOfBirth,
        customer.startDate,
        contact.email,
        contact.phones.mobile,
        address.addressLine1,
        city,
        state,
        postcode,
        address.country,
        customer.privacy,
        emailSubscription,
        false,
        customer.loyaltyCode,
        customer.loyaltyName,
        customer.joinedStoreId,
        adminId,
        legacyId,
        changed.toISOString(),
        renderUnclosed(customer) + renderTimestamp(changed),
        `,"ecommerceAdminId":${JSON.stringify(adminId)},"ecommerceLegacyId":${JSON.stringify(legacyId)}}`,
      ]
    }
  },
}

/** The stores of the stock and the transactions. */
export const stores = Array.from({ length: 60 }, (_, i) => ({
  storeId: String(1_001 + i),
  storeNumber: String(101 + i),
  code: `S${101 + i}`,
  name: `${cities[i % 4]?.[0]} ${i + 1}`,
}))
const joinedStores = stores.map(({ storeId, code }) => ({ joinedStoreId: storeId, joinedStoreCode: code }))

const colours = ['Black', 'Navy', 'Sand', 'Olive']
const sizes = ['XS', 'S', 'M', 'L', 'XL']

/** 400 SKUs, as `upsertProducts` takes them. */
export const productRows = Array.from({ length: 400 }, (_, i) => {
  const productId = String(5_001 + Math.floor(i / 20))
  const colourId = `${productId}-${Math.floor(i / 5) % 4}`
  const sizeCode = sizes[i % 5] as string
  const colour = colours[Math.floor(i / 5) % 4] as string
  return {
    product: { productId, productCode: `P${productId}`, name: `Hoodie ${productId}` },
    colour: { productId, colourId, code: colour.slice(0, 3).toUpperCase(), name: colour },
    variant: {
      productId,
      colourId,
      skuId: String(12_001 + i),
      sku: `P${productId}-${sizeCode}-${colour}`,
      sizeCode,
      price: '52.00',
    },
  }
})

/** Each SKU in each store, as `upsertStock` takes it. */
export const stockRows = stores.flatMap(({ storeId }, storeIndex) =>
  productRows.map(({ variant }, i) => ({ storeId, skuId: variant.skuId, freeStock: (storeIndex * 7 + i * 3) % 40 })),
)

/** Yields the lines of each transaction: one or two. About half of the transactions have a customer. */
function* generateTransactionParts(count: number): Generator<TransactionParts[]> {
  const random = randomFor('bench transactions')
  for (let i = 0; i < count; i++) {
    const store = random.pick(stores)
    const sold = new Date(newest - (count - i) * 60_000)
    const header = {
      id: String(200_001 + i),
      number: `R${store.storeNumber}${String(i).padStart(7, '0')}`,
      saleDate: formatLocalTime(sold),
      customerId: random.chance(0.5) ? String(100_001 + random.integer(0, count - 1)) : null,
      storeNumber: store.storeNumber,
      storeName: store.name,
    }
    yield Array.from({ length: random.integer(1, 2) }, (_, line) => {
      const { product, colour, variant } = random.pick(productRows)
      return {
        header,
        line: {
          id: `${header.id}-${line + 1}`,
          sequence: line + 1,
          sku: variant.sku,
          productCode: product.productCode,
          productName: product.name,
          colourCode: colour.code,
          colourName: colour.name,
          sizeCode: variant.sizeCode,
          quantity: 1,
          price: variant.price,
          taxPercent: '10',
        },
      }
    })
  }
}

export const currency = 'AUD'

/** Transactions, each with the record that `upsertTransactions` would render: both merge the lines with the same function. */
export const transactions: GeneratedTable = {
  table: 'retail_transaction',
  columns: ['service_id', 'id', 'customer_id', 'sale_date', 'changed_at', 'record'],
  *rows(serviceId, count) {
    let i = 0
    for (const parts of generateTransactionParts(count)) {
      const changed = toChangeTime(i++, count)
      for (const transaction of mergeLines(new Map(), parts, currency).merged) {
        const { id, customerId, saleDate } = transaction
        yield [
          serviceId,
          id,
          customerId,
          saleDate,
          changed.toISOString(),
          `${renderUnclosed(transaction) + renderTimestamp(changed)}}`,
        ]
      }
    }
  },
}

/** Returns the first transactions as syncs send them. If storing them changes a record, the records above differ from those that the store renders. */
export const generateSampleTransactions = (count: number, total: number) =>
  [...generateTransactionParts(total).take(count)].flat()

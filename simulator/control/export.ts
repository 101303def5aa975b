import { formatAustralian, formatIso } from '../shop/clock.ts'
import type { Person } from '../shop/records.ts'
import type { Shop } from '../shop/shop.ts'
import type { World } from '../world/world.ts'

type Cell = string | number

const formatCell = (value: Cell) =>
  /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value)

function* writeCsv<T>(columns: Readonly<Record<string, (row: T) => Cell>>, rows: Iterable<T>): Generator<string> {
  yield `${Object.keys(columns).join(',')}\r\n`
  for (const row of rows)
    yield `${Object.values(columns)
      .map(readCell => formatCell(readCell(row)))
      .join(',')}\r\n`
}

const formatYesNo = (value: boolean) => (value ? 'Yes' : 'No')

function exportCustomers({ persons, stores, referenceTypes }: Shop) {
  const findStore = (person: Person) => stores.get(person.joinedStoreId)
  const types = [...referenceTypes.values()].filter(type => type.recordType === 'person')
  const columns = types.flatMap(({ id, references }, i) => {
    const findReference = (person: Person) => references.get(person.references.get(id) ?? 0)
    return [
      [`REF${i + 1}_GROUP`, () => id],
      [`REF${i + 1}_ID`, person => findReference(person)?.id ?? ''],
      [`REF${i + 1}_CODE`, person => findReference(person)?.code ?? ''],
    ] satisfies [string, (person: Person) => Cell][]
  })
  return writeCsv<Person>(
    {
      PERIDX: p => p.id,
      PERSON_CODE: p => p.code,
      FIRSTNAME: p => p.firstname,
      SURNAME: p => p.surname,
      ADRS1: p => p.billing.line1,
      ADRS2: p => p.billing.line2,
      CITY: p => p.billing.city,
      STATE: p => p.billing.state,
      POSTCODE: p => p.billing.postcode,
      COUNTRY: p => p.billing.country,
      MOBILE: p => p.mobile,
      EMAIL: p => p.email,
      DOB: p => p.dateOfBirth,
      PRIVACY: p => formatYesNo(p.privacy),
      RETAIL_REP: p => formatYesNo(p.retailRep),
      LAST_UPDATED: p => formatAustralian(p.updated),
      CREATED_DATE: p => p.startDate,
      JOINED_STORE_ID: p => findStore(p)?.id ?? '',
      JOINED_STORE_CODE: p => findStore(p)?.code ?? '',
      STORE_NUMBER: p => findStore(p)?.number ?? '',
      ...Object.fromEntries(columns),
      LOYALTY_CODE: p => referenceTypes.get(366)?.references.get(p.loyalties.at(-1)?.typeId ?? 0)?.code ?? '',
    },
    persons.values(),
  )
}

/** Exports the lines of sales. The columns of the real export are unknown. */
function exportOrders({ transactions, stores, skus }: Shop) {
  const rows = transactions.values().flatMap(sale => sale.lines.values().map(line => ({ sale, line })))
  return writeCsv<{ sale: (typeof transactions)[number]; line: (typeof transactions)[number]['lines'][number] }>(
    {
      TRANSACTION_ID: r => r.sale.id,
      NUMBER: r => r.sale.number,
      ORDER_NUMBER: r => r.sale.orderNumber,
      PERIDX: r => r.sale.personId ?? '',
      TYPE: r => r.sale.type,
      SALE_DATE: r => r.sale.day,
      STORE_ID: r => r.sale.storeId,
      STORE_CODE: r => stores.get(r.sale.storeId)?.code ?? '',
      STORE_NUMBER: r => stores.get(r.sale.storeId)?.number ?? '',
      SKUIDX: r => r.line.skuId,
      BARCODE: r => skus.get(r.line.skuId)?.barcode ?? '',
      QUANTITY: r => r.line.quantity,
      PRICE: r => r.line.price,
      VALUE: r => r.line.value,
      CURRENCY: r => r.sale.currency,
    },
    rows,
  )
}

const exportRewards = ({ accounts }: Shop) =>
  writeCsv(
    {
      ACCOUNT_ID: a => a.id,
      PERIDX: a => a.personId,
      PROGRAM_ID: a => a.programId,
      TIER_ID: a => a.tierId,
      JOIN_DATE: a => a.joined,
      POINTS: a => a.points.reduce((sum, lot) => sum + lot.total - lot.redeemed, 0),
    } satisfies Record<string, (account: ReturnType<typeof accounts.get> & object) => Cell>,
    accounts.values(),
  )

const exports = { customers: exportCustomers, orders: exportOrders, rewards: exportRewards }
export type ExportName = keyof typeof exports
export const isExport = (name: string): name is ExportName => Object.hasOwn(exports, name)

/** Creates a file like those of Apparel21's scheduled export. Its name contains the time of the simulator's clock. */
export function createExport(name: ExportName, { shop, clock }: World): { file: string; lines: Iterable<string> } {
  const timestamp = formatIso(clock.now()).replace(/[-:]/g, '')
  return { file: `${name}_${timestamp}Z.csv`, lines: exports[name](shop) }
}

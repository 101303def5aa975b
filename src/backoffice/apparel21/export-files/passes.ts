import type { Database } from '../../../database/db.ts'
import { exportedLinePrefix } from '../../../domain/orders/merge-lines.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { isEmail } from '../../../domain/values/email.ts'
import type { ImportType } from '../../../import/pipeline/import-type.ts'
import { findCustomersById } from '../../../store/customers/customers.ts'
import { upsertBackOfficeSales } from '../../../store/orders/transactions.ts'
import {
  findStaffIds,
  findTransactionsOfOtherSources,
  loadSoldSkus,
  loadStoreNumbers,
} from '../../../store/sync/export-lookups.ts'
import { parseLocalTime } from '../xml/values.ts'
import type { ExportType } from './files.ts'
import type { ExportLine } from './lines.ts'

/** The cells of an import type's line, by column name. */
type Cells = Readonly<Record<string, string>>
type Values = Record<string, string | null>

/** Converts export lines into lines of one import type. A pass can skip lines. */
export interface ExportPass {
  type: 'customers' | 'staff' | 'transactions' | 'reward-accounts'
  columns: readonly string[]
  /** Stores the rows, if not in the import type's own way. */
  write?: ImportType['write']
  convert(lines: readonly ExportLine[]): Promise<Cells[]>
}

/** Creates the passes of each export type, in order. `skip` is called for each skipped line with the reason. */
export const passFactories: Readonly<
  Record<ExportType, (db: Database, service: Service, skip: (reason: string) => void) => ExportPass[]>
> = {
  customers: (db, service) => [createCustomersPass(db, service), createStaffPass(db, service)],
  orders: (db, service, skip) => [createSalesPass(db, service, skip)],
  rewards: () => [rewardAccountsPass],
}

const readCell = (line: ExportLine, name: string): string | null => line[name]?.trim() || null
const listValues = (lines: readonly ExportLine[], name: string) => [
  ...new Set(lines.flatMap(line => readCell(line, name) ?? [])),
]

/** Reads a date or time in any format of the back office. Returns invalid text unchanged, so that its line is rejected with a reason. */
const readTimestamp = (line: ExportLine, name: string) => {
  const text = readCell(line, name)
  return parseLocalTime(text)?.replace('T', ' ') ?? text
}
const readDate = (line: ExportLine, name: string) => readTimestamp(line, name)?.slice(0, 10) ?? null

/** Omits missing values, because an empty cell of an export has no meaning. */
const omitMissing = (values: Values): Cells =>
  Object.fromEntries(Object.entries(values).flatMap(([name, text]) => (text === null ? [] : [[name, text]])))

/**
 * Converts customers. For an existing customer, only the fields that the Retail API lacks are imported: an export is hours old, and the
 * Retail API's data is newer.
 */
const createCustomersPass = (db: Database, service: Service): ExportPass => ({
  type: 'customers',
  columns: ['PERIDX', 'FIRSTNAME', 'SURNAME'],
  async convert(lines) {
    const storedIds = new Set((await findCustomersById(db, service, listValues(lines, 'PERIDX'))).map(({ id }) => id))
    return lines.map(line => {
      const own = { id: readCell(line, 'PERIDX'), joinedStoreId: readCell(line, 'JOINED_STORE_ID') }
      return omitMissing(storedIds.has(own.id ?? '') ? own : { ...own, ...readPerson(line) })
    })
  },
})

function readPerson(line: ExportLine): Values {
  const started = readDate(line, 'CREATED_DATE')
  return {
    code: readCell(line, 'PERSON_CODE'),
    firstname: readCell(line, 'FIRSTNAME'),
    surname: readCell(line, 'SURNAME'),
    email: readEmail(line),
    phoneMobile: readCell(line, 'MOBILE'),
    dateOfBirth: readDate(line, 'DOB'),
    startDate: started && `${started} 00:00:00`,
    addressLine1: readCell(line, 'ADRS1'),
    addressLine2: readCell(line, 'ADRS2'),
    city: readCell(line, 'CITY'),
    state: readCell(line, 'STATE'),
    postcode: readCell(line, 'POSTCODE'),
    country: readCell(line, 'COUNTRY'),
    privacy: readCell(line, 'PRIVACY'),
    loyaltyCode: readCell(line, 'LOYALTY_CODE'),
    updateTimeStamp: readChangedAt(line),
  }
}

/** Returns an email address if it is valid. Tills accept any text, and an invalid address must not reject the customer. */
function readEmail(line: ExportLine) {
  const text = readCell(line, 'EMAIL')
  return text !== null && isEmail(text) ? text : null
}

/** Reads the person's change time. Returns null if it is invalid. */
const readChangedAt = (line: ExportLine) => parseLocalTime(readCell(line, 'LAST_UPDATED'))?.replace('T', ' ') ?? null

/** Converts staff members: persons with the flag `RETAIL_REP`. A known staff member without the flag becomes inactive. */
const createStaffPass = (db: Database, service: Service): ExportPass => ({
  type: 'staff',
  columns: ['PERIDX', 'PERSON_CODE', 'SURNAME', 'RETAIL_REP'],
  async convert(lines) {
    const staffIds = await findStaffIds(db, service, listValues(lines, 'PERIDX'))
    return lines.flatMap((line): Cells[] => {
      const isStaff = readCell(line, 'RETAIL_REP')?.toLowerCase() === 'yes'
      if (!isStaff && !staffIds.has(readCell(line, 'PERIDX') ?? '')) return []
      const cells = omitMissing({
        id: readCell(line, 'PERIDX'),
        code: readCell(line, 'PERSON_CODE'),
        firstname: readCell(line, 'FIRSTNAME'),
        surname: readCell(line, 'SURNAME'),
        email: readCell(line, 'EMAIL'),
        storeNumber: readCell(line, 'STORE_NUMBER'),
        active: String(isStaff),
        updateTimeStamp: readChangedAt(line),
      })
      return [cells]
    })
  },
})

const channels: Readonly<Record<string, string>> = { W: 'web', H: 'headOffice', D: 'store' }

const createSalesPass = (db: Database, service: Service, skip: (reason: string) => void): ExportPass => {
  const lineCounts = new Map<string, number>()
  let stores: ReturnType<typeof loadStoreNumbers> | undefined
  return {
    type: 'transactions',
    write: upsertBackOfficeSales as ImportType['write'],
    columns: ['TRANSACTION_ID', 'SALE_DATE', 'SKUIDX', 'QUANTITY', 'PRICE'],
    async convert(lines) {
      stores ??= loadStoreNumbers(db, service)
      const storeNumbersByKey = await stores
      const fromApi = await findTransactionsOfOtherSources(
        db,
        service,
        listValues(lines, 'TRANSACTION_ID'),
        exportedLinePrefix,
      )
      const skus = new Map((await loadSoldSkus(db, service, listValues(lines, 'SKUIDX'))).map(sku => [sku.skuId, sku]))
      return lines.flatMap((line): Cells[] => {
        const id = readCell(line, 'TRANSACTION_ID') ?? ''
        const sequence = (lineCounts.get(id) ?? 0) + 1
        lineCounts.set(id, sequence)
        const currency = readCell(line, 'CURRENCY')?.toUpperCase()
        if (fromApi.has(id)) return skipLine('are of transactions that the Retail API has returned with more details')
        if (currency && currency !== service.settings.currency) return skipLine('are in another currency')
        const number = readCell(line, 'NUMBER')
        const { skuId: _, ...sold } = skus.get(readCell(line, 'SKUIDX') ?? '') ?? { skuId: '' }
        const cells = omitMissing({
          id,
          number,
          lineId: `${exportedLinePrefix}${sequence}`,
          sequence: String(sequence),
          orderNumber: readCell(line, 'ORDER_NUMBER'),
          channel: channels[number?.charAt(0).toUpperCase() ?? ''] ?? 'store',
          type: toTransactionType(readCell(line, 'TYPE')),
          saleDate: readTimestamp(line, 'SALE_DATE'),
          customerId: readCell(line, 'PERIDX'),
          storeNumber: resolveStoreNumber(line, storeNumbersByKey),
          skuId: readCell(line, 'SKUIDX'),
          ...sold,
          quantity: readCell(line, 'QUANTITY'),
          price: readCell(line, 'PRICE'),
          value: readCell(line, 'VALUE'),
        })
        return [cells]
      })
    },
  }
  function skipLine(reason: string): Cells[] {
    skip(reason)
    return []
  }
}

/** Returns the number of a line's store. Web stores and warehouses are not stored, so their number comes from the file, and can be missing. */
function resolveStoreNumber(line: ExportLine, { byId, byCode }: Awaited<ReturnType<typeof loadStoreNumbers>>) {
  const code = readCell(line, 'STORE_CODE')
  const storedNumber = byId.get(readCell(line, 'STORE_ID') ?? '') ?? byCode.get(code ?? '')
  return storedNumber ?? (line.STORE_NUMBER === undefined ? code : readCell(line, 'STORE_NUMBER'))
}

/** Converts a type into the API's form: `Layby Update` becomes `laybyUpdate`. */
const toTransactionType = (text: string | null) =>
  (text ?? 'Sale').toLowerCase().replaceAll(/(?<!\s)\s+(\w)/g, (_, letter: string) => letter.toUpperCase())

const rewardAccountsPass: ExportPass = {
  type: 'reward-accounts',
  columns: ['ACCOUNT_ID', 'PERIDX', 'PROGRAM_ID', 'TIER_ID'],
  convert: async lines =>
    lines.map(line =>
      omitMissing({
        id: readCell(line, 'ACCOUNT_ID'),
        customerId: readCell(line, 'PERIDX'),
        programId: readCell(line, 'PROGRAM_ID'),
        tierId: readCell(line, 'TIER_ID'),
        joinDate: readDate(line, 'JOIN_DATE'),
      }),
    ),
}

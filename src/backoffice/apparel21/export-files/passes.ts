import type { Database } from '../../../database/db.ts'
import { exportedLinePrefix } from '../../../domain/orders/merge-lines.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { isEmail } from '../../../domain/values/email.ts'
import type { ImportType } from '../../../import/pipeline/import-type.ts'
import { knownCustomers } from '../../../store/customers/customers.ts'
import { upsertSalesTold } from '../../../store/orders/transactions.ts'
import { knownStaff, soldSkus, storeNumbers, toldOtherwise } from '../../../store/sync/export-lookups.ts'
import { parseLocalTime } from '../xml/values.ts'
import type { ExportKind } from './files.ts'
import type { ExportLine } from './lines.ts'

/** The cells of a line of one of our kinds (`backoffice/rows/kinds.ts`), by the names of its columns. */
type Cells = Readonly<Record<string, string>>
type Known = Record<string, string | null>

/** Makes lines of one of our kinds of lines of an export; some come to nothing. */
export interface Pass {
  kind: 'customers' | 'staff' | 'transactions' | 'reward-accounts'
  /** The columns without which it says nothing. */
  columns: readonly string[]
  /** How its rows are put in, where that is not how a file's are. */
  write?: ImportType['write']
  cells(lines: readonly ExportLine[]): Promise<Cells[]>
}

/** What is made of each kind of export, in this order; `leaveOut` is told of lines that are not for us, and why. */
export const passesOf: Readonly<
  Record<ExportKind, (db: Database, service: Service, leaveOut: (why: string) => void) => Pass[]>
> = {
  customers: (db, service) => [customers(db, service), staff(db, service)],
  orders: (db, service, leaveOut) => [sales(db, service, leaveOut)],
  rewards: () => [accounts],
}

const cell = (line: ExportLine, name: string): string | null => line[name]?.trim() || null
const given = (lines: readonly ExportLine[], name: string) => [
  ...new Set(lines.flatMap(line => cell(line, name) ?? [])),
]

/** A time, or a day, in any form in which this system writes them; as it stands where it is none, so that its line is rejected with a reason. */
const momentOf = (line: ExportLine, name: string) => {
  const text = cell(line, name)
  return parseLocalTime(text)?.replace('T', ' ') ?? text
}
const dayOf = (line: ExportLine, name: string) => momentOf(line, name)?.slice(0, 10) ?? null

/** What is given, and nothing of what is not: an empty cell of an export says nothing. */
const saying = (known: Known): Cells =>
  Object.fromEntries(Object.entries(known).flatMap(([name, text]) => (text === null ? [] : [[name, text]])))

/**
 * Of a customer who is known only what the API does not tell is taken: an export is hours old when it arrives, and what the API told
 * meanwhile is newer.
 */
const customers = (db: Database, service: Service): Pass => ({
  kind: 'customers',
  columns: ['PERIDX', 'FIRSTNAME', 'SURNAME'],
  async cells(lines) {
    const known = new Set((await knownCustomers(db, service, given(lines, 'PERIDX'))).map(({ id }) => id))
    return lines.map(line => {
      const own = { id: cell(line, 'PERIDX'), joinedStoreId: cell(line, 'JOINED_STORE_ID') }
      return saying(known.has(own.id ?? '') ? own : { ...own, ...personOf(line) })
    })
  },
})

function personOf(line: ExportLine): Known {
  const started = dayOf(line, 'CREATED_DATE')
  return {
    code: cell(line, 'PERSON_CODE'),
    firstname: cell(line, 'FIRSTNAME'),
    surname: cell(line, 'SURNAME'),
    email: emailOf(line),
    phoneMobile: cell(line, 'MOBILE'),
    dateOfBirth: dayOf(line, 'DOB'),
    startDate: started && `${started} 00:00:00`,
    addressLine1: cell(line, 'ADRS1'),
    addressLine2: cell(line, 'ADRS2'),
    city: cell(line, 'CITY'),
    state: cell(line, 'STATE'),
    postcode: cell(line, 'POSTCODE'),
    country: cell(line, 'COUNTRY'),
    privacy: cell(line, 'PRIVACY'),
    loyaltyCode: cell(line, 'LOYALTY_CODE'),
    updateTimeStamp: changedAt(line),
  }
}

/** Tills let anything be written there; a customer without an e-mail address is worth more than none. */
function emailOf(line: ExportLine) {
  const text = cell(line, 'EMAIL')
  return text !== null && isEmail(text) ? text : null
}

/** When the person changed; nothing where it cannot be read. */
const changedAt = (line: ExportLine) => parseLocalTime(cell(line, 'LAST_UPDATED'))?.replace('T', ' ') ?? null

/** The staff are persons with a tick; who has lost it has left. */
const staff = (db: Database, service: Service): Pass => ({
  kind: 'staff',
  columns: ['PERIDX', 'PERSON_CODE', 'SURNAME', 'RETAIL_REP'],
  async cells(lines) {
    const known = await knownStaff(db, service, given(lines, 'PERIDX'))
    return lines.flatMap((line): Cells[] => {
      const isStaff = cell(line, 'RETAIL_REP')?.toLowerCase() === 'yes'
      if (!isStaff && !known.has(cell(line, 'PERIDX') ?? '')) return []
      const made = saying({
        id: cell(line, 'PERIDX'),
        code: cell(line, 'PERSON_CODE'),
        firstname: cell(line, 'FIRSTNAME'),
        surname: cell(line, 'SURNAME'),
        email: cell(line, 'EMAIL'),
        storeNumber: cell(line, 'STORE_NUMBER'),
        active: String(isStaff),
        updateTimeStamp: changedAt(line),
      })
      return [made]
    })
  },
})

const channels: Readonly<Record<string, string>> = { W: 'web', H: 'headOffice', D: 'store' }

const sales = (db: Database, service: Service, leaveOut: (why: string) => void): Pass => {
  const counted = new Map<string, number>()
  let stores: ReturnType<typeof storeNumbers> | undefined
  return {
    kind: 'transactions',
    write: upsertSalesTold as ImportType['write'],
    columns: ['TRANSACTION_ID', 'SALE_DATE', 'SKUIDX', 'QUANTITY', 'PRICE'],
    async cells(lines) {
      stores ??= storeNumbers(db, service)
      const known = await stores
      const told = await toldOtherwise(db, service, given(lines, 'TRANSACTION_ID'), exportedLinePrefix)
      const skus = new Map((await soldSkus(db, service, given(lines, 'SKUIDX'))).map(sku => [sku.skuId, sku]))
      return lines.flatMap((line): Cells[] => {
        const id = cell(line, 'TRANSACTION_ID') ?? ''
        const place = (counted.get(id) ?? 0) + 1
        counted.set(id, place)
        const currency = cell(line, 'CURRENCY')?.toUpperCase()
        if (told.has(id)) return left('are of transactions that the API has told of, with more about them')
        if (currency && currency !== service.settings.currency) return left('are in another currency')
        const number = cell(line, 'NUMBER')
        const { skuId: _, ...sold } = skus.get(cell(line, 'SKUIDX') ?? '') ?? { skuId: '' }
        const made = saying({
          id,
          number,
          lineId: `${exportedLinePrefix}${place}`,
          sequence: String(place),
          orderNumber: cell(line, 'ORDER_NUMBER'),
          channel: channels[number?.charAt(0).toUpperCase() ?? ''] ?? 'store',
          type: typeIn(cell(line, 'TYPE')),
          saleDate: momentOf(line, 'SALE_DATE'),
          customerId: cell(line, 'PERIDX'),
          storeNumber: storeNumberIn(line, known),
          skuId: cell(line, 'SKUIDX'),
          ...sold,
          quantity: cell(line, 'QUANTITY'),
          price: cell(line, 'PRICE'),
          value: cell(line, 'VALUE'),
        })
        return [made]
      })
    },
  }
  function left(why: string): Cells[] {
    leaveOut(why)
    return []
  }
}

/** Web stores and warehouses are not among the stores: only the file can tell the number of one, which may have none. */
function storeNumberIn(line: ExportLine, { byId, byCode }: Awaited<ReturnType<typeof storeNumbers>>) {
  const code = cell(line, 'STORE_CODE')
  const known = byId.get(cell(line, 'STORE_ID') ?? '') ?? byCode.get(code ?? '')
  return known ?? (line.STORE_NUMBER === undefined ? code : cell(line, 'STORE_NUMBER'))
}

/** `Layby Update` is `laybyUpdate`. */
const typeIn = (text: string | null) =>
  (text ?? 'Sale').toLowerCase().replaceAll(/(?<!\s)\s+(\w)/g, (_, letter: string) => letter.toUpperCase())

const accounts: Pass = {
  kind: 'reward-accounts',
  columns: ['ACCOUNT_ID', 'PERIDX', 'PROGRAM_ID', 'TIER_ID'],
  cells: async lines =>
    lines.map(line =>
      saying({
        id: cell(line, 'ACCOUNT_ID'),
        customerId: cell(line, 'PERIDX'),
        programId: cell(line, 'PROGRAM_ID'),
        tierId: cell(line, 'TIER_ID'),
        joinDate: dayOf(line, 'JOIN_DATE'),
      }),
    ),
}

import type { Row } from './ingest.ts'
import { RowError } from './row-error.ts'

/** What the database refuses a row for. */
export interface Violation {
  /** Empty where it is not one that has a name. */
  constraint: string
  /** In words about one row. */
  reason(row: Row): RowError
  /** In words about rows, said after their number. */
  note: string
}

const taken = (column: string, whose: string) => (row: Row) =>
  new RowError(`belongs to another ${whose}`, column, row[column])
const unknown = (column: string, what: string) => (row: Row) => new RowError(`names no ${what}`, column, row[column])
const negative = (column: string) => () => new RowError('is less than 0', column)

const placedHere = () => new RowError('belongs to an order that was placed here', 'orderNumber')
const issuedHere = () => new RowError('belongs to a voucher that was issued here', 'number')

const otherwise = 'contradict another record, or cannot be stored'

/** What each constraint refuses, by its name; without a note: `otherwise`. */
const constraints: Readonly<Record<string, readonly [reason: Violation['reason'], note?: string]>> = {
  store_service_id_store_number_key: [taken('storeNumber', 'store'), 'have the number of another store'],
  staff_service_id_code_key: [taken('code', 'member of the staff')],
  customer_erased: [row => new RowError('was erased', 'id', row.id), 'were erased here'],
  mapped_customer: [unknown('customerId', 'customer')],
  customer_email: [taken('email', 'customer'), 'have the e-mail address of another customer'],
  variant_service_id_sku_key: [
    row => taken(row.ecommerceSku ? 'ecommerceSku' : row.sku ? 'sku' : 'skuId', 'SKU')(row),
    'have the e-commerce SKU of another one',
  ],
  sales_order_pkey: [taken('id', 'order')],
  sales_order_service_id_order_number_key: [placedHere],
  order_customer: [unknown('customerId', 'customer')],
  order_placed_here: [placedHere],
  order_changed_here: [
    () =>
      new RowError('is of an order that was shipped, cancelled or returned here since it was imported', 'orderNumber'),
  ],
  transaction_currency: [
    () => new RowError('has an amount with more decimals than the currency of its transaction has'),
    'have more decimals than the currency of their sale',
  ],
  voucher_pkey: [issuedHere],
  voucher_issued_here: [issuedHere],
  voucher_used_here: [
    () =>
      new RowError(
        'is of a voucher that was held, used or stopped here, or has expired, since it was imported',
        'number',
      ),
  ],
  voucher_original_amount: [
    () => new RowError('does not change: it is not what the voucher was issued for', 'originalAmount'),
  ],
  voucher_original_amount_check: [
    () => new RowError('is required, and more than 0, where nothing is left', 'originalAmount'),
  ],
  voucher_within_original: [() => new RowError('is more than it was issued for', 'balance')],
  voucher_steps: [() => new RowError('is no longer what the voucher can be: it was issued, or has expired', 'status')],
  reward_account_service_id_customer_id_key: [
    row => new RowError('has another reward account already', 'customerId', row.customerId),
    'are a second reward account of a customer',
  ],
  reward_gift_service_id_program_id_fkey: [unknown('programId', 'loyalty programme')],
  reward_account_service_id_program_id_fkey: [
    unknown('programId', 'loyalty programme'),
    'are of a rewards programme that is not known here',
  ],
  reward_account_service_id_program_id_tier_id_fkey: [
    unknown('tierId', 'tier of the programme'),
    'are of a tier that is not known here',
  ],
  reward_account_customer: [unknown('customerId', 'customer'), 'are of a customer that is not known here'],
  reward_lot_service_id_account_id_fkey: [
    unknown('accountId', 'reward account'),
    'are of a reward account that is not known here',
  ],
  reward_lot_total_check: [negative('total')],
  reward_lot_redeemed_check: [negative('redeemed')],
  reward_lot_pending_check: [negative('pending')],
  reward_lot_check: [() => new RowError('is less than what is redeemed and pending together', 'total')],
}

/** What the database would reject, and need not be asked. */
export const foreseen = (reason: RowError): Violation => ({ constraint: '', reason: () => reason, note: otherwise })

interface DatabaseError {
  code?: string
  constraint?: string
  column?: string
}

/** What the database refuses; undefined where the fault is not the data's (SQLSTATE 21000, classes 22 and 23). */
export function violationIn(error: unknown): Violation | undefined {
  const { code = '', constraint = '', column = '' } = error as DatabaseError
  if (!/^(21000$|22|23)/.test(code)) return
  const [reason, note = otherwise] = (Object.hasOwn(constraints, constraint) && constraints[constraint]) || [
    () => unnamed(code, column),
  ]
  return { constraint, reason, note }
}

function unnamed(code: string, column: string) {
  if (code === '23502') return new RowError('is required', camelCase(column))
  return new RowError(
    code.startsWith('23') ? 'The line contradicts another record.' : 'A value is outside of what can be stored.',
  )
}

const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

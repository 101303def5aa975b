import type { Row } from './ingest.ts'
import { RowError } from './row-error.ts'

/** A reason why the database rejects a row. */
export interface Violation {
  /** Empty if the constraint has no name. */
  constraint: string
  toRowError(row: Row): RowError
  /** The remark of a run that counts such rows. */
  note: string
}

/** The message about an email address of another customer. An option of imports stores the customer without the address. */
export const emailTaken = 'belongs to another customer'

const createTakenError = (column: string, type: string) => (row: Row) =>
  new RowError(`belongs to another ${type}`, column, row[column])
export const createUnknownError = (column: string, type: string) => (row: Row) =>
  new RowError(`must be an existing ${type}`, column, row[column])
const createNegativeError = (column: string) => () => new RowError('must be at least 0', column)

const placedHere = () => new RowError('belongs to an order that was placed in Tillbridge', 'orderNumber')
const issuedHere = () => new RowError('belongs to a voucher that was issued in Tillbridge', 'number')

const defaultNote = "contradicts another record or can't be stored"

/** The violations of each constraint, by its name. The default note is `defaultNote`. */
const violations: Readonly<Record<string, readonly [reason: Violation['toRowError'], note?: string]>> = {
  store_service_id_store_number_key: [createTakenError('storeNumber', 'store'), 'have the number of another store'],
  staff_service_id_code_key: [createTakenError('code', 'staff member')],
  customer_erased: [row => new RowError('was erased', 'id', row.id), 'customer was erased'],
  mapped_customer: [createUnknownError('customerId', 'customer')],
  customer_email: [row => new RowError(emailTaken, 'email', row.email), 'email address of another customer'],
  variant_service_id_sku_key: [
    row => createTakenError(row.ecommerceSku ? 'ecommerceSku' : row.sku ? 'sku' : 'skuId', 'SKU')(row),
    'e-commerce SKU of another SKU',
  ],
  sales_order_pkey: [createTakenError('id', 'order')],
  sales_order_service_id_order_number_key: [placedHere],
  order_customer: [
    row =>
      String(row.customerId).includes('@')
        ? new RowError(
            'must be a customer ID (an email address belongs in customerEmail)',
            'customerId',
            row.customerId,
          )
        : createUnknownError('customerId', 'customer')(row),
  ],
  order_placed_here: [placedHere],
  order_changed_here: [
    () =>
      new RowError(
        'belongs to an order that was shipped, cancelled or returned in Tillbridge since its import',
        'orderNumber',
      ),
  ],
  transaction_currency: [
    () => new RowError('Amounts must have at most the decimals of the currency of the transaction.'),
    'more decimals than the currency of the sale',
  ],
  voucher_pkey: [issuedHere],
  voucher_issued_here: [issuedHere],
  voucher_used_here: [
    () =>
      new RowError(
        'belongs to a voucher that was locked, redeemed or suspended in Tillbridge, or has expired, since its import',
        'number',
      ),
  ],
  voucher_original_amount: [() => new RowError("can't change after the voucher was issued", 'originalAmount')],
  voucher_original_amount_check: [
    () => new RowError('is required and must be more than 0 if the balance is 0', 'originalAmount'),
  ],
  voucher_within_original: [() => new RowError('must be at most the original amount', 'balance')],
  voucher_steps: [
    () => new RowError("can't be set, because the voucher was issued or has expired since its import", 'status'),
  ],
  reward_account_service_id_customer_id_key: [
    row => new RowError('already has another reward account', 'customerId', row.customerId),
    'second reward account of a customer',
  ],
  reward_gift_service_id_program_id_fkey: [createUnknownError('programId', 'reward program')],
  reward_account_service_id_program_id_fkey: [
    createUnknownError('programId', 'reward program'),
    'reward account of an unknown program',
  ],
  reward_account_service_id_program_id_tier_id_fkey: [
    createUnknownError('tierId', 'tier of the program'),
    'reward account of an unknown tier',
  ],
  reward_account_customer: [createUnknownError('customerId', 'customer'), 'reward account of an unknown customer'],
  reward_lot_service_id_account_id_fkey: [
    createUnknownError('accountId', 'reward account'),
    'reward lot of an unknown account',
  ],
  reward_lot_total_check: [createNegativeError('total')],
  reward_lot_redeemed_check: [createNegativeError('redeemed')],
  reward_lot_pending_check: [createNegativeError('pending')],
  reward_lot_check: [() => new RowError('must be at least the sum of redeemed and pending', 'total')],
}

/** Wraps an error that was found before the database was called. */
export const toKnownViolation = (error: RowError): Violation => ({
  constraint: '',
  toRowError: () => error,
  note: defaultNote,
})

interface DatabaseError {
  code?: string
  constraint?: string
  column?: string
}

/** Returns the violation of a database error. Undefined if the data is not the cause (other than SQLSTATE 21000, classes 22 and 23). */
export function toViolation(error: unknown): Violation | undefined {
  const { code = '', constraint = '', column = '' } = error as DatabaseError
  if (!/^(21000$|22|23)/.test(code)) return
  const [toRowError, note = defaultNote] = (Object.hasOwn(violations, constraint) && violations[constraint]) || [
    () => createUnnamedError(code, column),
  ]
  return { constraint, toRowError, note }
}

function createUnnamedError(code: string, column: string) {
  if (code === '23502') return new RowError('is required', toCamelCase(column))
  return new RowError(
    code.startsWith('23') ? 'The line contradicts another record.' : 'A value is outside the range that can be stored.',
  )
}

const toCamelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

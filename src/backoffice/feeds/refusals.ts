import type { Fault } from './fault.ts'
import type { Row } from './rows.ts'

const taken = (column: string, whose: string) => (row: Row) => ({
  column,
  reason: `belongs to another ${whose}: ${row[column]}`,
})
const unknown = (column: string, what: string) => (row: Row) => ({ column, reason: `names no ${what}: ${row[column]}` })
const negative = (column: string) => () => ({ column, reason: 'is less than 0' })

/** What a line did that the database refuses, by the name of the constraint. */
const constraints: Readonly<Record<string, (row: Row) => Fault>> = {
  store_service_id_store_number_key: taken('storeNumber', 'store'),
  staff_service_id_code_key: taken('code', 'member of the staff'),
  customer_email: taken('email', 'customer'),
  variant_service_id_sku_key: row => taken(row.ecommerceSku ? 'ecommerceSku' : row.sku ? 'sku' : 'skuId', 'SKU')(row),
  reward_account_service_id_customer_id_key: row => ({
    column: 'customerId',
    reason: `has another reward account already: ${row.customerId}`,
  }),
  reward_gift_service_id_program_id_fkey: unknown('programId', 'loyalty programme'),
  reward_account_service_id_program_id_fkey: unknown('programId', 'loyalty programme'),
  reward_account_service_id_program_id_tier_id_fkey: unknown('tierId', 'tier of the programme'),
  reward_account_service_id_customer_id_fkey: unknown('customerId', 'customer'),
  reward_lot_service_id_account_id_fkey: unknown('accountId', 'reward account'),
  reward_lot_total_check: negative('total'),
  reward_lot_redeemed_check: negative('redeemed'),
  reward_lot_pending_check: negative('pending'),
  reward_lot_check: () => ({ column: 'total', reason: 'is less than what is redeemed and pending together' }),
}

interface DatabaseError {
  code?: string
  constraint?: string
  column?: string
}

/** Why the database refuses a row, in words; undefined where the fault is not the data's (SQLSTATE 21000, classes 22 and 23). */
export function refusalOf(error: unknown): ((row: Row) => Fault) | undefined {
  const { code = '', constraint = '', column = '' } = error as DatabaseError
  if (!/^(21000$|22|23)/.test(code)) return
  if (Object.hasOwn(constraints, constraint)) return constraints[constraint]
  if (code === '23502') return () => ({ column: camelCase(column), reason: 'is required' })
  if (code.startsWith('23')) return () => ({ column: '', reason: 'The line contradicts another record.' })
  return () => ({ column: '', reason: 'A value is outside of what can be stored.' })
}

const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

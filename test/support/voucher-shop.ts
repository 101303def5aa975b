import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { raw, sql } from '../../src/database/db.ts'
import { upsertProducts } from '../../src/store/catalog/products.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { insertVouchers, type VoucherWithUsage } from '../../src/store/vouchers/vouchers.ts'
import type { Caller, TestApi, TestResponse } from './service.ts'
import { post, put } from './write.ts'

export const pin = '004200'

/** Settings of a service that can issue vouchers, without rate limits. */
export const voucherSettings = {
  currency: 'AUD',
  timeZone: 'Australia/Melbourne',
  vouchersEnabled: true,
  giftCardSku: 'GIFTCARD',
  voucherType: 'DIGITAL',
  // Tests of vouchers pay for items that no store keeps.
  oversell: 'allow',
  readsPerMinute: 'off',
  writesPerMinute: 'off',
} as const

/** The body of a request for a gift voucher. */
export const gift = {
  amount: '150.00',
  gateway: 'paypal',
  receiverName: 'Ann Lee',
  receiverEmail: 'ann.lee@example.com',
  senderName: 'John Smith',
  subject: 'A gift for you',
  billingAddress: { addressLine1: '111 Collins St', city: 'Melbourne', country: 'Australia' },
}

/** Adds the product and gateways that gift vouchers need. */
export async function stockGiftCards(api: Pick<TestApi, 'db'>, { service }: Pick<Caller, 'service'>) {
  await upsertProducts(api.db, service, [
    {
      product: { productId: '1', productCode: 'GIFT', name: 'Gift card' },
      colour: { productId: '1', colourId: '1' },
      variant: { skuId: '1', productId: '1', colourId: '1', sku: 'GIFTCARD', sizeCode: '-', price: '0.00' },
    },
  ])
  await upsertGateways(api.db, service, [{ name: 'paypal' }, { name: 'visa' }])
}

/** Requests the gift voucher, with the changes in `overrides`. */
export const issueVoucher = (by: Caller, overrides: object = {}, headers: Record<string, string> = {}) =>
  post(by, '/vouchers', { ...gift, ...overrides }, headers)

/** Counts the rows of a service in a table, by default of the first service. */
export const countRows = (
  api: Pick<TestApi, 'db' | 'service'>,
  table: 'voucher' | 'email' | 'voucher_sale',
  { service }: Pick<Caller, 'service'> = api,
) => api.db.run(sql`select from ${raw(table)} where service_id = ${service.id}`)

/** Adds vouchers of 150.00, by number, each with its changes. */
export const addVouchers = (
  api: Pick<TestApi, 'db' | 'keys'>,
  { service }: Pick<Caller, 'service'>,
  vouchers: Record<string, Partial<VoucherWithUsage>>,
) =>
  insertVouchers(
    api.db,
    api.keys,
    service,
    Object.entries(vouchers).map(([number, overrides]) => ({
      number,
      pin,
      state: 'active',
      originalAmount: '150.00',
      usedAmount: '0.00',
      expiryDate: '2099-12-31',
      ...overrides,
    })),
  )

let voucherCount = 0
/** Adds a voucher of 150.00, with the changes in `overrides`. Returns its number, which no other test uses. */
export async function newVoucher(
  api: Pick<TestApi, 'db' | 'keys' | 'service'>,
  overrides: Partial<VoucherWithUsage> = {},
) {
  const number = `20623${++voucherCount}`
  await addVouchers(api, api, { [number]: overrides })
  return number
}

/** Moves one of a voucher's times into the past. */
export const backDate = (
  { db, service }: Pick<TestApi, 'db' | 'service'>,
  number: string,
  column: 'locked_until' | 'validated_until',
) =>
  db.run(sql`
    update voucher set ${raw(column)} = now() - interval '1 ms' where service_id = ${service.id} and number = ${number}`)

/** Returns the seconds between a wall clock time in Melbourne and the time there in `seconds` seconds. */
export const getClockDifference = (wallClock: string, seconds: number) =>
  Math.abs(
    Temporal.Now.zonedDateTimeISO('Australia/Melbourne')
      .add({ seconds })
      .toPlainDateTime()
      .until(wallClock)
      .total('seconds'),
  )

export const validateVoucher = (by: Caller, number: string, amount = '10.00') =>
  post(by, '/vouchers/validate', { number, pin, amount })

/** Validates a voucher successfully. Returns the validation ID. */
export async function getValidationId(by: Caller, number: string): Promise<string> {
  const { status, json } = await validateVoucher(by, number)
  assert.equal(status, 200, JSON.stringify(json))
  return json.data.validationId
}

export const lockVoucher = (
  by: Caller,
  number: string,
  validationId: string,
  lockSeconds?: number,
  headers?: Record<string, string>,
): Promise<TestResponse> => put(by, `/vouchers/${number}/lock`, { validationId, lockSeconds }, headers)

/** Returns a rejection without the members that differ for each request. */
export const getRejection = ({ status, json }: TestResponse) => {
  const { requestId: _, instance: __, ...shared } = json
  return { status, ...shared }
}

/** Returns the entries of a voucher's ledger, as `kind state`. */
export const listLedgerSteps = async (
  { db }: Pick<TestApi, 'db'>,
  { service }: Pick<Caller, 'service'>,
  number: string,
) =>
  (
    await db.rows<{ step: string }>(sql`
      select kind || ' ' || state as step from voucher_entry where service_id = ${service.id} and number = ${number} order by entry`)
  ).map(({ step }) => step)

/** Deletes the failure counters. Failures are counted by minute and by IP address, which all tests share. */
export const clearFailures = async ({ db }: Pick<TestApi, 'db'>) => {
  await db.run(sql`delete from failure`)
  await db.run(sql`delete from pin_guard`)
}

/** Waits until at least 8 s of the current minute are left, and deletes the failure counters. */
export async function waitForMinuteStart(api: Pick<TestApi, 'db'>) {
  const { remaining = 60 } =
    (await api.db.row<{ remaining: number }>(sql`select 60 - extract(second from now())::float8 as remaining`)) ?? {}
  if (remaining < 8) await delay(remaining * 1_000)
  await clearFailures(api)
}

import assert from 'node:assert/strict'
import { sql } from '../../src/db.ts'
import { upsertProducts } from '../../src/store/goods/products.ts'
import { upsertGateways } from '../../src/store/running/gateways.ts'
import { insertVouchers, type VoucherRow } from '../../src/store/vouchers/vouchers.ts'
import type { Answer, Caller, TestService } from './service.ts'
import { post, put } from './write.ts'

export const pin = '004200'

/** A service that can make vouchers, with no limit on requests. */
export const voucherSettings = {
  currency: 'AUD',
  timeZone: 'Australia/Melbourne',
  vouchersEnabled: true,
  giftCardSku: 'GIFTCARD',
  voucherType: 'DIGITAL',
  readsPerMinute: 'off',
  writesPerMinute: 'off',
} as const

/** What the back office of such a service has to have. */
export async function stockGiftCards(api: Pick<TestService, 'db'>, { service }: Pick<Caller, 'service'>) {
  await upsertProducts(api.db, service, [
    {
      product: { productId: '1', productCode: 'GIFT', name: 'Gift card' },
      colour: { productId: '1', colourId: '1' },
      variant: { skuId: '1', productId: '1', colourId: '1', sku: 'GIFTCARD', sizeCode: '-', price: '0.00' },
    },
  ])
  await upsertGateways(api.db, service, [{ name: 'paypal' }, { name: 'visa' }])
}

/** Adds vouchers of 150.00, each as told. */
export const addVouchers = (
  api: Pick<TestService, 'db' | 'keys'>,
  { service }: Pick<Caller, 'service'>,
  vouchers: Record<string, Partial<VoucherRow>>,
) =>
  insertVouchers(
    api.db,
    api.keys,
    service,
    Object.entries(vouchers).map(([number, more]) => ({
      number,
      pin,
      state: 'active',
      originalAmount: '150.00',
      usedAmount: '0.00',
      expiryDate: '2099-12-31',
      ...more,
    })),
  )

export const validate = (by: Caller, number: string, amount = '10.00') =>
  post(by, '/vouchers/validate', { number, pin, amount })

/** Validates, which has to succeed. */
export async function validationOf(by: Caller, number: string, amount?: string): Promise<string> {
  const { status, json } = await validate(by, number, amount)
  assert.equal(status, 200, JSON.stringify(json))
  return json.data.validationId
}

export const lock = (
  by: Caller,
  number: string,
  validationId: string,
  lockSeconds?: number,
  headers?: Record<string, string>,
): Promise<Answer> => put(by, `/vouchers/${number}/lock`, { validationId, lockSeconds }, headers)

/** A refusal without what differs from request to request. */
export const refusalOf = ({ status, json }: Answer) => {
  const { requestId: _, instance: __, ...told } = json
  return { status, ...told }
}

/** The steps in a voucher's ledger, as `kind state`. */
export const stepsOf = async ({ db }: Pick<TestService, 'db'>, { service }: Pick<Caller, 'service'>, number: string) =>
  (
    await db.rows<{ step: string }>(sql`
      select kind || ' ' || state as step from voucher_entry where service_id = ${service.id} and number = ${number} order by entry`)
  ).map(({ step }) => step)

/** Failures are counted by the minute and by the address, which all tests share. */
export const forgetFailures = async ({ db }: Pick<TestService, 'db'>) => {
  await db.run(sql`delete from failure`)
  await db.run(sql`delete from pin_guard`)
}

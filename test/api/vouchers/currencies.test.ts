import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { getDecimals } from '../../../src/domain/values/money.ts'
import { insertVouchers } from '../../../src/store/vouchers/vouchers.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi } from '../../support/service.ts'

const api = await startTestApi({ role: 'maintainer' })
after(() => api.stop())

/** Currencies of ISO 4217 (list one) whose minor unit is not a hundredth, by its digits. */
const codesByDecimals: Record<number, string> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}

test('a currency has the decimals of ISO 4217', () => {
  const otherCurrencies = new Map(
    Object.entries(codesByDecimals).flatMap(([digits, codes]) =>
      codes.split(' ').map(code => [code, Number(digits)] as const),
    ),
  )
  for (const currency of Intl.supportedValuesOf('currency'))
    assert.equal(getDecimals(currency), otherCurrencies.get(currency) ?? 2, currency)
})

const lookUp = (caller: Caller, number: string) => caller.get(`/vouchers/${number}`, { 'x-voucher-pin': '1' })
const voucher = { pin: '1', state: 'active', usedAmount: '0.50', expiryDate: '2099-12-31' } as const

test('a forint voucher has two decimals', async () => {
  const caller = await api.createService({ currency: 'HUF' })
  await insertVouchers(api.db, api.keys, caller.service, [{ ...voucher, number: '1', originalAmount: '1501.00' }])
  const { json } = await lookUp(caller, '1')
  assert.equal(json.data.availableAmount, '1500.50')
})

test('a stored amount finer than its currency is an error, never zero', async () => {
  const caller = await api.createService({ currency: 'AUD' })
  await insertVouchers(api.db, api.keys, caller.service, [{ ...voucher, number: '2', originalAmount: '10.00' }])
  await api.db.run(sql`update voucher set currency = 'JPY' where service_id = ${caller.service.id} and number = '2'`)
  assertProblem(await lookUp(caller, '2'), 'internal_error', api.baseUrl, '/vouchers/2')
})

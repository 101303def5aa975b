import assert from 'node:assert/strict'
import { after, beforeEach } from 'node:test'
import type { Simulator } from '../../../simulator/control/handle.ts'
import { sql } from '../../../src/database/db.ts'
import { type Apparel21Api, connectToBackOffice, startApparel21Api } from '../../drivers/apparel21.ts'
import { buildCredentials } from '../../support/servers.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/service.ts'
import { clearFailures, gift } from '../../support/voucher-shop.ts'
import { post } from '../../support/write.ts'

/** A usable voucher of 100.00. */
export const [number, pin] = ['6000001', '1234']
export const lookUp = (caller: Caller, input = number, usedPin = pin) =>
  post(caller, '/vouchers/lookup', { number: input, pin: usedPin })
export const validate = (caller: Caller, amount = '10.00', input = number, usedPin = pin) =>
  post(caller, '/vouchers/validate', { number: input, pin: usedPin, amount })
export const getValidationId = async (caller: Caller, amount?: string): Promise<string> => {
  const { status, json } = await validate(caller, amount)
  assert.equal(status, 200, JSON.stringify(json))
  return json.data.validationId
}
/** Counts the validation calls for a voucher. */
export const countValidations = ({ ledger }: Simulator, voucherNumber = number) =>
  ledger.findCalls({ path: `/Voucher/GVValid/${voucherNumber}` }).length

/** Starts an API and a simulator for the tests of a file. Vouchers are reset before each test. */
export async function startVoucherFixture() {
  const { simulator, api, stop } = await startApparel21Api()
  const secondApis: TestApi[] = []
  after(async () => {
    for (const server of secondApis) await server.stop()
    await stop()
  })
  beforeEach(async () => {
    simulator.reset()
    await clearFailures(api)
    await api.db.run(sql`delete from upstream_voucher`)
    await api.db.run(sql`delete from upstream_voucher_sale`)
  })
  return {
    simulator,
    api,
    findVoucher: (voucherNumber: string) =>
      simulator.state.vouchers.get(voucherNumber) ?? assert.fail(`Voucher not found: ${voucherNumber}.`),
    /** Starts a second server of the installation with its own back office client. `other` is another account that uses it. */
    async startSecondServer(): Promise<{ second: TestApi; other: Caller }> {
      const { client, backOffice } = connectToBackOffice(simulator)
      const second = await startTestApi({ sharedWith: api, backOffice })
      secondApis.push({ ...second, stop: () => second.stop().then(client.close) })
      const account = await api.createAccount('visitor')
      const request: Caller['request'] = (path, options = {}) =>
        second.sendRaw(path, { ...options, headers: { ...buildCredentials(account), ...options.headers } })
      return { second, other: { ...account, request, get: (path, headers = {}) => request(path, { headers }) } }
    },
  }
}

const apparel21Gift = { ...gift, receiverName: 'Ann Mary Lee', receiverEmail: 'Ann.Lee@example.com' }

/** Returns functions to sell vouchers and to inspect the sales. */
export const createVoucherSaleFixture = ({ simulator, api }: Pick<Apparel21Api, 'simulator' | 'api'>) => ({
  issue: (more: object = {}, headers: Record<string, string> = {}, caller: Caller = api) =>
    post(caller, '/vouchers', { ...apparel21Gift, ...more }, headers),
  listSales: () => simulator.ledger.findEffects('voucher sold'),
  /** Returns the order, and asserts that there is only one. */
  getOnlyOrder() {
    const [effect, ...otherEffects] = simulator.ledger.findEffects('order created')
    assert.equal(otherEffects.length, 0)
    const order = simulator.state.orders.get(Number(effect?.id))
    assert.ok(order)
    return order
  },
})
export const inDays = (days: number) => Temporal.Now.plainDateISO('Australia/Melbourne').add({ days }).toString()

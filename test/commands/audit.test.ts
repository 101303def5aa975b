import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Audit } from '../../src/domain/audit.ts'
import { raiseAlert } from '../../src/store/alerts/alerts.ts'
import { insertVouchers } from '../../src/store/vouchers/vouchers.ts'
import { buildEnvironment } from '../import/import-command.ts'
import { createReturn, getCreatedRecord, type OrderShop, placeOrder, startOrderShop } from '../support/order-shop.ts'
import { createDirectory, runCommand, runSuccessfully } from '../support/processes.ts'
import type { Caller } from '../support/service.ts'

let shop: OrderShop
let environment: Record<string, string>
before(async () => {
  shop = await startOrderShop()
  environment = buildEnvironment(shop.api, join(createDirectory(), 'data'))
})
after(() => shop.api.stop())

/** Returns the audit entries of commands for a service, as `operation subject`. */
async function listCommandEntries({ service }: Caller) {
  const admin = await shop.api.createAccount('admin', service)
  const lines: Audit[] = (await admin.get('/audit')).json.data
  return lines
    .filter(line => line.username === 'tillbridge (command line)')
    .map(line => `${line.operation} ${line.subject}`)
}

test('the audit log records decisions and erasures made by commands', async () => {
  const caller = await shop.createShop({ fulfilment: 'manual' })
  const { db, keys } = shop.api
  const { service } = caller
  const [cancelled, shipped] = [
    await placeOrder(caller, [{ sku: 'TEE', quantity: 1 }]),
    await placeOrder(caller, [{ sku: 'HOOD-S', quantity: 1 }]),
  ]
  const voucher = { number: '900', pin: '1', state: 'active', originalAmount: '20.00', usedAmount: '0.00' } as const
  await insertVouchers(db, keys, service, [{ ...voucher, expiryDate: '2099-12-31' }])
  await raiseAlert(db, service.id, { kind: 'email_failed', subject: '1', detail: 'No such mailbox' })
  const runForService = (...command: string[]) => runSuccessfully([...command, '--service', service.name], environment)
  await runForService('order', 'cancel', cancelled.orderNumber)
  await runForService('order', 'ship', shipped.orderNumber)
  const { id: returnId, returnNumber } = getCreatedRecord(await createReturn(caller, shipped.id, { 'HOOD-S': 1 }))
  await runForService('order', 'return', returnNumber, 'receive')
  await runForService('voucher', 'suspend', '900')
  await runForService('alert', 'resolve', 'email_failed')
  await runForService('customer', 'erase', '65432', '--yes')
  assert.deepEqual(await listCommandEntries(caller), [
    `order cancel /orders/${cancelled.id}`,
    `order ship /orders/${shipped.id}`,
    `order return receive /returns/${returnId}`,
    'voucher suspend /vouchers/900',
    'alert resolve email_failed /alerts',
    'customer erase /customers/65432',
  ])
})

test('a rejected command adds no audit entry', async () => {
  const caller = await shop.createShop()
  for (const command of [
    ['order', 'cancel', 'none'],
    ['voucher', 'suspend', 'none'],
    ['alert', 'resolve', 'email_failed'],
    ['customer', 'erase', 'none', '--yes'],
    ['account', 'revoke', 'none'],
  ]) {
    const service = command[0] === 'account' ? [] : ['--service', caller.service.name]
    assert.equal((await runCommand([...command, ...service], environment)).code, 1, command.join(' '))
  }
  assert.deepEqual(await listCommandEntries(caller), [])
})

test("a command on an account adds entries to each service's audit", async () => {
  const [first, other] = [await shop.createShop(), await shop.createShop()]
  const runAccountCommand = (...command: string[]) => runSuccessfully(['account', ...command], environment)
  for (const { service } of [first, other]) await runAccountCommand('add', 'till', '--service', service.name)
  await runAccountCommand('trust-shopper-ip', 'till', 'yes')
  await runAccountCommand('rotate', 'till')
  await runAccountCommand('revoke', 'till', '--previous-secret')
  await runAccountCommand('revoke', 'till')
  const expected = ['add', 'trust-shopper-ip', 'rotate', 'revoke', 'revoke'].map(
    account => `account ${account} /accounts/till`,
  )
  assert.deepEqual(await listCommandEntries(first), expected)
  assert.deepEqual(await listCommandEntries(other), expected)
})

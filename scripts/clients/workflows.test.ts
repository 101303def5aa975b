import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { pino } from 'pino'
import { installNpmTools } from '../../scenarios/support/install-tools.ts'
import { demoSettings, fillDemoShop } from '../../seed/shop.ts'
import { sampleVoucher } from '../../seed/vouchers.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import { toApiKey, trustCertificate } from '../../test/client/shop.ts'
import { checkout } from '../../test/support/processes.ts'
import { startTestApi } from '../../test/support/service.ts'
import { startReceiver } from '../../test/support/webhooks/receiver.ts'

// Runs the workflows for agents with the demo shop. Respect also compares each response with the OpenAPI document.

const api = await startTestApi({
  settings: { ...demoSettings, fulfilment: 'manual' },
  environment: { WEBHOOK_NETWORKS: '127.0.0.0/8' },
})
trustCertificate(api.ca)
const receiver = await startReceiver()
await fillDemoShop(api.db, api.keys, api.service)
const log = pino({ level: 'silent' })
const worker = startWorker({ db: api.db, keys: api.keys, log, mailTransport: { send: async () => {} } })
after(async () => {
  await worker.stop(1_000)
  await receiver.close()
  await api.stop()
})

const file = join(checkout, 'docs/workflows.arazzo.yaml')
const programs = await installNpmTools('@redocly/respect-core@2.37.0')
const load = (name: string) => import(pathToFileURL(join(programs ?? '', '../@redocly', name, 'lib/index.js')).href)

/** Runs a workflow. Returns its outputs. Fails with the report of the runner. */
async function runWorkflow(name: string, inputs: object) {
  const [{ run }, { createConfig }] = await Promise.all([load('respect-core'), load('openapi-core')])
  const report: string[] = []
  const write = (text: string) => void report.push(text)
  const results = await run({
    files: [file],
    workflow: [name],
    input: JSON.stringify({ apiKey: toApiKey(api), service: api.service.name, ...inputs }),
    server: `tillbridge=${api.baseUrl}`,
    config: await createConfig({}),
    maxSteps: 200,
    maxFetchTimeout: 30_000,
    logger: {
      info: write,
      warn: write,
      error: write,
      output: write,
      printNewLine() {},
      printSeparator() {},
      indent: (text: string) => text,
    },
    verbose: true,
    fetch,
  }).catch((error: Error) => assert.fail(`${error.message}\n${report.join('')}`))
  const [result] = results
  assert.equal(result.hasProblems, false, report.join(''))
  return result.ctx.$workflows[name].outputs
}

const skip = !programs && 'respect-core cannot be installed'
const cart = { customerId: '60001', sku: 'LINDEN-CREW-OAT-M' }

test('an order is paid with a voucher', { skip }, async () => {
  const voucher = { voucherNumber: sampleVoucher.number, voucherPin: sampleVoucher.pin }
  const { orderId } = await runWorkflow('order-with-voucher', { ...cart, ...voucher, basketId: 'cart-1' })
  assert.equal((await api.get(`/orders/${orderId}`)).json.data.payments[0].gateway, 'gift-card')
})

test('a reserved unit is ordered, shipped and returned', { skip }, async () => {
  const basket = { ...cart, basketId: 'cart-2', paymentReference: 'PAYID-2' }
  const { orderId } = await runWorkflow('reservation-to-shipment', basket)
  const { returnId, payments } = await runWorkflow('return-order', { orderId, sku: cart.sku })
  assert.equal((await api.get(`/returns/${returnId}`)).json.data.status, 'refunded')
  assert.equal(payments, '119.95')
})

test('a customer is changed', { skip }, async () => {
  const { customerId } = await runWorkflow('change-customer', { email: 'ann.lee@example.com' })
  assert.equal((await api.get(`/customers/${customerId}`)).json.data.emailSubscription, true)
})

test('changes are read page by page', { skip }, async () => {
  const { cursor } = await runWorkflow('poll-changes', { kinds: 'customer,order' })
  assert.equal((await api.get(`/changes?kinds=customer,order&after_cursor=${cursor}`)).status, 200)
})

test('a webhook receives a test event', { skip }, async () => {
  const { secret } = await runWorkflow('set-up-webhook', { url: receiver.url })
  assert.match(secret, /^whsec_/)
  assert.equal(JSON.parse(receiver.received[0]?.body ?? '{}').type, 'webhook.test')
})

test('a file is imported and its rejected lines are read', { skip }, async () => {
  const stores = 'storeId,storeNumber,name\n990,990,Collins Street\n991,,Warehouse\n'
  const { rejected, lines } = await runWorkflow('import-file', { file: stores })
  assert.deepEqual([rejected, lines.length], [1, 1])
  assert.equal((await api.get('/stores/990')).json.data.name, 'Collins Street')
})

test('a broken mapping is found and fixed', { skip }, async () => {
  await runWorkflow('fix-mapping', { variants: 'sku,handle\nlinden-crew-gry-m,linden-crew\n' })
  assert.equal((await api.get('/products?sku=linden-crew-gry-m')).json.data.length, 1)
})

test('each workflow has a test', () => {
  const workflows = [...readFileSync(file, 'utf8').matchAll(/workflowId: (\S+)/g)].map(([, name = '']) => name)
  assert.equal(workflows.length, 8)
  const source = readFileSync(new URL(import.meta.url), 'utf8')
  for (const name of workflows) assert.ok(source.includes(`runWorkflow('${name}'`), name)
})

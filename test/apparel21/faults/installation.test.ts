import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { test } from 'node:test'
import { startSimulator } from '../../../simulator/simulator.ts'
import { buildSyncs } from '../../../src/backoffice/apparel21/syncs/syncs.ts'
import type { BackOfficeSettings } from '../../../src/domain/tenancy/back-office-settings.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { listAlerts } from '../../../src/store/alerts/alerts.ts'
import { setBackOffice } from '../../../src/store/backoffice/connections.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { upsertGateways } from '../../../src/store/tenancy/gateways.ts'
import { runSync } from '../../../src/sync/sync.ts'
import { issueCertificate } from '../../../src/tls/issue-certificate.ts'
import { createClient } from '../../client/shop.ts'
import { connectToBackOffice, settings } from '../../drivers/apparel21.ts'
import { buildCustomer } from '../../support/customer-bodies.ts'
import { address } from '../../support/order-shop.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import { startTestApi, type TestResponse } from '../../support/service.ts'
import { post, put, withKey } from '../../support/write.ts'
import { countRows } from '../shop.ts'
import { account, measure, startFaultFixture } from './fault-fixture.ts'

const {
  api,
  simulator,
  log,
  logLines,
  createServiceFor,
  closeAfterTests,
  startServer,
  startRawServer,
  getLivePath,
  assertUnavailable,
  assertInvalidResponse,
} = await startFaultFixture()

/** Creates a service and sets its back office, as an operator does before a server starts. */
async function createConfiguredService(backOffice: Omit<BackOfficeSettings, 'driver' | 'country'>) {
  const { service } = await api.createService(settings)
  await setBackOffice(api.db, api.keys, service, { driver: 'apparel21', country: 'AU', ...backOffice })
  return service
}

/** Starts a TLS server with a certificate of its own authority. */
async function startTlsServer({ isExpired = false, host = '127.0.0.1' } = {}) {
  const generateKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const [caKey, key] = [generateKey(), generateKey()]
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)
  const toHosts = (name: string) =>
    /\d$/.test(name) ? { names: [], addresses: [name] } : { names: [name], addresses: [] }
  const authority = { subject: `Retail authority ${randomUUID().slice(0, 8)}`, key: caKey }
  const ca = issueCertificate({ ...authority, hosts: toHosts(host), notBefore: inDays(-400), notAfter: inDays(400) })
  const [notBefore, notAfter] = isExpired ? [inDays(-30), inDays(-1)] : [inDays(-1), inDays(30)]
  const cert = issueCertificate({ subject: 'retail', key, hosts: toHosts(host), notBefore, notAfter, authority })
  const tls = { cert, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() }
  const listener: RequestListener = (_, response) => {
    tlsRequestCount++
    response.end(account)
  }
  return { url: await startServer(listener, tls), ca }
}

/** If true, the silent server never responds. Otherwise it closes each connection. */
let isSilent = true
const silent = await startRawServer(socket => {
  if (!isSilent) socket.destroy()
})
const guarded = closeAfterTests(
  await startSimulator({
    sizes: { stores: 1, styles: 1, persons: 3, vouchers: 0 },
    settings: { credentials: { user: 'till', password: 'the-right-one' } },
  }),
)
let tlsRequestCount = 0
const good = await startTlsServer()
const expired = await startTlsServer({ isExpired: true })
const wrongHost = await startTlsServer({ host: 'a.example' })
const services = {
  silent: await createConfiguredService({ url: silent.url }),
  denied: await createConfiguredService({ url: guarded.url, user: 'till', password: 'the-wrong-one' }),
  good: await createConfiguredService({ url: good.url, ca: good.ca }),
  untrusted: await createConfiguredService({ url: good.url }),
  otherCa: await createConfiguredService({ url: good.url, ca: expired.ca }),
  expired: await createConfiguredService({ url: expired.url, ca: expired.ca }),
  wrongHost: await createConfiguredService({ url: wrongHost.url, ca: wrongHost.ca }),
  working: await createConfiguredService({ url: simulator.url }),
}
/** A second server of the installation, started after the back offices are set. */
const server = await startTestApi({ sharedWith: api, log })
closeAfterTests({ close: () => server.stop() })

test('failed connections affect only live requests, and service recovers', async () => {
  const caller = await server.createAccount('maintainer', services.working)
  const { client, release } = connectToBackOffice(simulator)
  closeAfterTests(client)
  for (const sync of buildSyncs(client, release)) await runSync(api.db, services.working, sync)
  const lists = ['/stores', '/inventory', '/products', '/customers/search', '/orders/transactions/search']
  await waitUntil(
    async () => (await caller.get('/orders/transactions/search')).json.meta.syncedAt !== undefined,
    'the server has read the sync times',
  )
  const earlier = new Map<string, TestResponse>()
  for (const path of lists) earlier.set(path, await caller.get(path))
  const pagination = createClient(server, caller).customers.search()
  await pagination.page()
  const paged = pagination.meta?.syncedAt
  await pagination.export().next()
  assert.ok(paged)
  assert.equal(pagination.meta?.syncedAt, paged, 'an export has the same sync time as a page')
  await simulator.stopAccepting()
  for (const [path, before] of earlier) {
    const { status, json } = await caller.get(path)
    assert.equal(status, 200, path)
    assert.ok(json.data.length > 0, path)
    assert.deepEqual(json.data, before.json.data, path)
    assert.match(json.meta.syncedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, path)
    assert.equal(json.meta.syncedAt, before.json.meta.syncedAt, path)
  }
  const customers = await countRows(caller, api, 'customer')
  const [body, key] = [buildCustomer(), withKey()]
  const unavailable = await caller.get(getLivePath())
  assertUnavailable(unavailable, server.baseUrl)
  const failures = logLines.filter(line => line.includes('back-office call failed')).map(line => JSON.parse(line))
  assert.ok(
    failures.some(({ requestId, cause }) => requestId === unavailable.json.requestId && cause === 'ECONNREFUSED'),
    'the log has the cause of the failed request',
  )
  assertUnavailable(await post(caller, '/customers', body, key), server.baseUrl)
  assertUnavailable(await post(caller, '/vouchers/lookup', { number: '6000001', pin: '1234' }), server.baseUrl)
  assert.equal((await caller.get('/health/ready')).status, 200)
  assert.equal(await countRows(caller, api, 'customer'), customers)
  assert.equal(await countRows(caller, api, 'idempotent_response'), 0, 'the key is not used up')
  await simulator.accept()
  await waitUntil(async () => (await caller.get(getLivePath())).status === 200, 'calls resume', 15_000)
  assert.equal((await post(caller, '/customers', body, key)).status, 201)
  assert.equal(simulator.ledger.findEffects('person created').length, 1)
})

test('a back office that never responds affects only its own service', async () => {
  isSilent = true
  const hung = await server.createAccount('maintainer', services.silent)
  const other = await server.createAccount('maintainer', services.working)
  const writes = Array.from({ length: 14 }, () => post(hung, '/customers', buildCustomer(), withKey()))
  const reads = Array.from({ length: 4 }, () => hung.get(getLivePath()))
  await waitUntil(() => silent.sockets.size >= 4, 'four calls are in flight')
  for (let i = 0; i < 3; i++) {
    const created = await measure(post(other, '/customers', buildCustomer(), withKey()))
    assert.equal(created.response.status, 201, created.response.text)
    const read = await measure(other.get(getLivePath()))
    assert.equal(read.response.status, 200, read.response.text)
    assert.ok(created.ms < 2_000 && read.ms < 1_000, `${created.ms} ms, ${read.ms} ms`)
  }
  assert.equal((await hung.get('/customers/search')).status, 200)
  isSilent = false
  silent.destroyConnections()
  for (const response of await Promise.all([...writes, ...reads])) assertUnavailable(response, server.baseUrl)
})

test('a rejected password is 503 with one alert until it is corrected', async () => {
  const caller = await server.createAccount('maintainer', services.denied)
  guarded.ledger.clear()
  const listDenials = async () => (await listAlerts(api.db)).filter(({ kind }) => kind === 'back_office_denied')
  for (let i = 0; i < 20; i++) {
    const response =
      i % 2 ? await post(caller, '/customers', buildCustomer(), withKey()) : await caller.get(getLivePath())
    assertUnavailable(response, server.baseUrl)
    assert.ok(Number(response.headers['retry-after']) > 30, response.text)
  }
  assert.equal(guarded.ledger.calls.length, 1)
  await waitUntil(async () => (await listDenials()).length > 0, 'an alert is raised')
  const [alert, ...otherAlerts] = await listDenials()
  assert.deepEqual([alert?.service, alert?.times, otherAlerts], [services.denied.name, 1, []])
  const right = { url: guarded.url, user: 'till', password: 'the-right-one' }
  await setBackOffice(api.db, api.keys, services.denied, { driver: 'apparel21', country: 'AU', ...right })
  const [accountId] = guarded.state.accounts.keys()
  const path = accountId === undefined ? '/rewards/accounts/1' : `/rewards/accounts/${accountId}`
  await waitUntil(
    async () => [200, 404].includes((await caller.get(path)).status),
    'the right password is in use',
    6_000,
  )
  await waitUntil(async () => (await listDenials()).length === 0, 'the alert is resolved')
  assert.doesNotMatch(logLines.join('') + JSON.stringify(alert), /the-wrong-one|the-right-one/)
})

test('a redirect is not followed and receives no credentials', async () => {
  const authorizations: unknown[] = []
  const other = await startServer((request, response) => {
    authorizations.push(request.headers.authorization)
    response.end(account)
  })
  let status = 302
  const url = await startServer((_, response) => {
    response.writeHead(status, { location: `${other}/Rewards/Accounts/7` }).end(account)
  })
  const caller = await createServiceFor(url)
  for (status of [301, 302, 303, 307, 308]) {
    assertInvalidResponse(await caller.get('/rewards/accounts/7'), `${status}`)
    assertInvalidResponse(await post(caller, '/customers', buildCustomer(), withKey()), `${status}`)
  }
  assert.deepEqual(authorizations, [])
})

test('an invalid certificate is rejected unless a CA file allows it', async t => {
  const readRewards = async (service: Service) =>
    (await server.createAccount('visitor', service)).get('/rewards/accounts/7')
  const bad = ['untrusted', 'otherCa', 'expired', 'wrongHost'] as const
  assert.equal((await readRewards(services.good)).status, 200)
  assert.equal(tlsRequestCount, 1)
  for (const name of bad) assertUnavailable(await readRewards(services[name]), server.baseUrl)
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
  t.after(() => {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
  })
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  for (const name of bad) assertUnavailable(await readRewards(services[name]), server.baseUrl)
  assert.equal(tlsRequestCount, 1, 'no request is sent over an untrusted connection')
  const reasons = logLines.join('')
  for (const code of ['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID']) assert.match(reasons, new RegExp(code))
})

test('an identifier can never lead to another path of the back office', async () => {
  const caller = await createServiceFor(simulator.url)
  for (const sync of ['references', 'stores', 'products', 'customers']) await caller.sync(sync)
  await upsertGateways(api.db, caller.service, [{ name: 'visa' }])
  const ids = ['.', '..', '../Stores', '..\\Stores', '%2e%2e', '%2E%2E%2FStores']
  await upsertCustomers(
    api.db,
    caller.service,
    ids.map((id, i) => ({ id, firstname: 'Dot', surname: 'Path', email: `dot${i}@example.com` })),
  )
  const sku = [...simulator.state.skus.values()].find(({ colour, price }) => !colour.style.special && price > 0)
  const buildOrder = (customerId: string) => ({
    customerId,
    billingAddress: address,
    deliveryAddress: address,
    lines: [{ sku: String(sku?.id), quantity: 1 }],
    payments: [{ gateway: 'visa', amount: sku?.price.toFixed(2) }],
  })
  simulator.ledger.clear()
  for (const id of ids) {
    const part = encodeURIComponent(id).replaceAll('.', '%2e')
    for (const response of [
      await caller.get(`/rewards/accounts/${part}`),
      await caller.get(`/customers/${part}/rewards`),
      await put(caller, `/customers/${part}`, { title: 'Dr' }),
      await post(caller, `/orders/${part}/returns`, { lines: [{ sku: 'X', quantity: 1, reasonCode: 'SIZE' }] }),
      await post(caller, '/orders', buildOrder(id), withKey()),
    ])
      assert.ok(response.status >= 400 && response.status < 500, `${id} ${response.status} ${response.text}`)
    assertProblem(
      await post(caller, '/vouchers/lookup', { number: id, pin: '1234' }),
      'voucher_not_accepted',
      api.baseUrl,
    )
  }
  assert.deepEqual(simulator.ledger.findCalls({ method: 'POST' }), [])
  const paths = new Set(simulator.ledger.calls.map(({ path }) => path.split('?')[0]))
  assert.ok(
    paths.isSubsetOf(new Set(['/', '', '/PersonReferenceTypes', '/ProductReferenceTypes', '/References/272'])),
    [...paths].join(),
  )
  const real = [...simulator.state.persons.values()].find(({ email }) => email !== '')
  assert.equal((await post(caller, '/orders', buildOrder(String(real?.id)), withKey())).status, 201)
})

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createResolve } from '../../../src/webhooks/addresses.ts'
import { createSender } from '../../../src/webhooks/sender.ts'
import { startTestApi, type TestApi } from '../../support/service.ts'
import { type NameServer, startNameServer } from '../../support/webhooks/name-server.ts'
import { type Receiver, respondWith, startReceiver } from '../../support/webhooks/receiver.ts'
import { post, put } from '../../support/write.ts'
import { hostileAddresses, hostileUrls, publicAddresses } from './hostile.ts'

let nameServer: NameServer
/** The receiver's address counts as public. The victim's address is internal, so no delivery can reach it. */
let receiver: Receiver
let victim: Receiver
let api: TestApi
before(async () => {
  nameServer = await startNameServer()
  receiver = await startReceiver('127.0.0.2')
  victim = await startReceiver('127.0.0.1', receiver.port)
  api = await startTestApi()
})
after(async () => {
  nameServer.close()
  await Promise.all([receiver.close(), victim.close()])
  await api.stop()
})
beforeEach(() => {
  nameServer.names.clear()
  nameServer.queriedNames.length = 0
  receiver.received.length = 0
  receiver.respond = respondWith(204)
})

const createPublicSender = () => createSender([], createResolve(nameServer.resolver))
/** Returns a sender that allows the receiver's address. */
const createLocalSender = () => createSender(['127.0.0.2/32'], createResolve(nameServer.resolver))
const signal = () => AbortSignal.timeout(10_000)

test('the guard is tested with a hundred hostile URLs', () =>
  assert.ok(hostileUrls.length >= 100, String(hostileUrls.length)))

for (const url of hostileUrls)
  test(`a delivery is never sent to ${url}`, async () => {
    nameServer.names.set('shop.example', [['8.8.8.8']])
    const sender = createPublicSender()
    const rejection = await sender.findRejection(url)
    assert.ok(rejection, 'the URL must be rejected before it is stored')
    const channel = sender.openChannel(url)
    const { status, error } = await channel.post('{}', {}, signal())
    channel.close()
    assert.equal(status, null)
    assert.ok(error, 'the delivery must be rejected too')
    const created = await post(api, '/webhooks', { url })
    assert.equal(created.status, 422, created.text)
    assert.ok(['url_not_allowed', 'invalid_field'].includes(created.json.code), created.text)
  })

for (const addresses of hostileAddresses)
  test(`a delivery is rejected if its name resolves to ${addresses.join(' and ')}`, async () => {
    nameServer.names.set('shop.example', [addresses])
    const sender = createPublicSender()
    assert.match((await sender.findRejection('https://shop.example/')) ?? '', /public address/)
    const channel = sender.openChannel('https://shop.example/')
    const { status, error } = await channel.post('{}', {}, signal())
    channel.close()
    assert.deepEqual(
      [status, error],
      [null, '`url` must have a host with a public address, or one in `WEBHOOK_NETWORKS`.'],
    )
  })

for (const addresses of publicAddresses)
  test(`a delivery is allowed if its name resolves to ${addresses.join(' and ')}`, async () => {
    nameServer.names.set('shop.example', [addresses])
    for (const url of ['https://shop.example/hooks?a=b', 'https://shop.example:8443/', 'https://shop.example./'])
      assert.equal(await createPublicSender().findRejection(url), undefined, url)
  })

test('a name is resolved and checked again for each connection', async () => {
  const url = `http://rebound.example:${receiver.port}/hooks`
  nameServer.names.set('rebound.example', [['127.0.0.2'], ['127.0.0.2'], ['127.0.0.1']])
  const sender = createLocalSender()
  assert.equal(await sender.findRejection(url), undefined)
  const first = sender.openChannel(url)
  assert.equal((await first.post('{}', {}, signal())).status, 204)
  assert.equal((await first.post('{}', {}, signal())).status, 204, 'over the same connection')
  first.close()
  assert.equal(nameServer.queriedNames.length, 2, 'once for the check and once for the connection')
  const second = sender.openChannel(url)
  const { status, error } = await second.post('{}', {}, signal())
  second.close()
  assert.equal(status, null)
  assert.match(error ?? '', /`https:\/\/`|public address/)
  assert.equal(receiver.received.length, 2)
  assert.equal(victim.received.length, 0)
})

test('a connection uses the checked address and the requested host name', async () => {
  nameServer.names.set('named.example', [['127.0.0.2']])
  const channel = createLocalSender().openChannel(`http://named.example:${receiver.port}/hooks?a=b`)
  assert.equal((await channel.post('{"a":1}', { 'x-own': 'own' }, signal())).status, 204)
  channel.close()
  const [{ headers, body, path } = assert.fail()] = receiver.received
  assert.deepEqual(
    [headers.host, headers['x-own'], body, path],
    [`named.example:${receiver.port}`, 'own', '{"a":1}', '/hooks?a=b'],
  )
})

for (const status of [300, 301, 302, 303, 307, 308])
  test(`a redirect (${status}) to an internal address is not followed`, async () => {
    receiver.respond = respondWith(status, { location: victim.url })
    const channel = createLocalSender().openChannel(receiver.url)
    const outcome = await channel.post('{}', {}, signal())
    channel.close()
    assert.deepEqual([outcome.status, outcome.error], [status, `The endpoint returned ${status}.`])
    assert.equal(victim.received.length, 0)
  })

test("a delivery never uses the environment's proxy", async () => {
  const { env } = process
  process.env = {
    ...env,
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: victim.url,
    http_proxy: victim.url,
    ALL_PROXY: victim.url,
  }
  const channel = createLocalSender().openChannel(receiver.url)
  assert.equal((await channel.post('{}', {}, signal())).status, 204)
  channel.close()
  process.env = env
  assert.equal(victim.received.length, 0)
})

test('plain HTTP is limited to allowed networks', async () => {
  nameServer.names.set('shop.example', [['8.8.8.8']])
  assert.match((await createLocalSender().findRejection('http://shop.example/')) ?? '', /https/)
  assert.match((await createLocalSender().findRejection('http://8.8.8.8/')) ?? '', /https/)
  assert.match((await createLocalSender().findRejection(victim.url)) ?? '', /https/)
  assert.equal(await createLocalSender().findRejection(receiver.url), undefined)
})

test('a delivery reads 64 KiB of a response and stores 1 KiB', async () => {
  receiver.respond = (_, serverResponse) => {
    serverResponse.writeHead(200)
    const writeMore = () => {
      while (!serverResponse.destroyed && serverResponse.write('é'.repeat(32_768)));
      if (!serverResponse.destroyed) serverResponse.once('drain', writeMore)
    }
    writeMore()
  }
  const channel = createLocalSender().openChannel(receiver.url)
  const { status, response } = await channel.post('{}', {}, signal())
  channel.close()
  assert.equal(status, 200)
  assert.equal(response, 'é'.repeat(512))
})

test('an unresolvable name is a failure with that cause', async () => {
  nameServer.names.set('silent.example', [])
  const channel = createLocalSender().openChannel('https://silent.example/')
  const { error } = await channel.post('{}', {}, signal())
  channel.close()
  assert.equal(error, 'The name silent.example has no address.')
  assert.equal(
    await createLocalSender().findRejection('https://nowhere.example/'),
    undefined,
    'the name can get an address later',
  )
})

test('a webhook URL cannot be changed to a forbidden address', async () => {
  const created = await post(api, '/webhooks', { url: 'https://8.8.8.8/hooks' })
  assert.equal(created.status, 201, created.text)
  const path = `/webhooks/${created.json.data.id}`
  const updated = await put(api, path, { url: 'https://169.254.169.254/' })
  assert.deepEqual(
    [updated.status, updated.json.code, updated.json.errors[0].pointer],
    [422, 'url_not_allowed', '/url'],
  )
  assert.equal((await api.get(path)).json.data.url, 'https://8.8.8.8/hooks')
})

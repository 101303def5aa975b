import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createSender } from '../../simulator/send.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { ensureLocalFiles } from '../../src/tls/local-ca.ts'

const simulator = await startSimulator()
after(() => simulator.close())
const send = createSender(() => simulator.url)

test('the root page shows the version and payload versions', async () => {
  simulator.set({ release: '2023.4a' })
  const { status, headers, text } = await send('', { country: '' })
  assert.equal(status, 200)
  assert.match(String(headers.get('content-type')), /text\/html/)
  const [, year, number, letter] =
    /Retail API Release\D*(\d{4})\.(\d+)([a-z]?)/i.exec(text.replace(/<[^>]*>/g, ' ')) ?? []
  assert.deepEqual([year, number, letter], ['2023', '4', 'a'])
  for (const version of ['1.0', '2.0', '3.0', '4.0']) assert.match(text, new RegExp(`<p>${version}</p>`))
  simulator.set({ release: '2025.1' })
})

test('paths and query names ignore case and trailing slashes', async () => {
  for (const path of ['STORES/', 'stores', 'Stores'])
    assert.equal((await send(`${path}?COUNTRYcode=au`, { country: '' })).status, 200)
})

test('a call without a known countryCode is rejected', async () => {
  assert.deepEqual(
    [(await send('Stores', { country: '' })).status, (await send('Stores', { country: '' })).code],
    [403, 5029],
  )
  const { status, code } = await send('Stores', { country: 'XX' })
  assert.deepEqual([status, code], [403, 5029])
  simulator.set({ missingCountryCode: { status: 400, code: 5109 } })
  assert.equal((await send('Stores', { country: '' })).code, 5109)
  simulator.set({ missingCountryCode: { status: 403, code: 5029 } })
})

test('a misconfigured country rejects every call', async () => {
  const { countries } = simulator.settings
  simulator.set({
    countries: [...countries, { code: 'AU-GA', currency: 'AUD', priceFactor: 1, taxPercent: 10, problem: 5031 }],
  })
  const { status, code } = await send('Stores', { country: 'AU-GA' })
  assert.deepEqual([status, code], [403, 5031])
})

test('payload versions are 1 to 4, by default 1', async () => {
  assert.equal((await send('Stores', { version: '5.0' })).code, 5045)
  assert.equal((await send('Stores', { headers: { accept: 'Version_4.0' } })).status, 200)
  assert.equal((await send('Stores', { headers: { accept: '*/*' } })).status, 200)
})

test('wrong credentials get a 401 page, also at the root', async () => {
  simulator.set({ credentials: { user: 'shop', password: 'secret' } })
  const buildBasicAuth = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
  for (const headers of [{}, buildBasicAuth('shop:wrong'), buildBasicAuth('shop:secret1')]) {
    const { status, text } = await send('Stores', { headers })
    assert.equal(status, 401)
    assert.match(text, /<title>401 - /)
  }
  assert.equal((await send('', { country: '' })).status, 401)
  assert.equal((await send('Stores', { headers: buildBasicAuth('shop:secret') })).status, 200)
  simulator.set({ credentials: null })
})

test('an unknown path is 404 and an unknown method 405', async () => {
  for (const path of ['Nothing', 'Stores/1/Nothing', 'Coupons/1/2/3']) {
    const { status, text, code } = await send(path)
    assert.deepEqual([status, code], [404, undefined])
    assert.match(text, /<title>404 - /)
  }
  assert.equal((await send('Stores', { method: 'DELETE' })).status, 405)
  assert.equal((await fetch(new URL('/Elsewhere', simulator.url))).status, 404)
})

test('calls exist from their version on', async () => {
  const firstReleases = [
    ['Freestock/AllStyles', '2021.1', '2021.2'],
    ['Orders?updatedAfter=2020-01-01', '2022.3', '2022.4'],
    ['Persons/1/Orders/1/Returns/1', '2017.1', '2017.2'],
  ] as const
  for (const [path, before, from] of firstReleases) {
    simulator.set({ release: before })
    assert.match((await send(path)).text, /<title>404/, `${path} at ${before}`)
    simulator.set({ release: from })
    assert.doesNotMatch((await send(path)).text, /<title>404/, `${path} at ${from}`)
  }
  simulator.set({ release: '2025.1' })
})

test('the base can be any virtual directory', async () => {
  simulator.set({ base: '/RetailAPI_brand_LIVE' })
  assert.match(simulator.url, /\/RetailAPI_brand_LIVE\/$/)
  assert.equal((await send('Stores')).status, 200)
  simulator.set({ base: '/RetailAPI' })
})

test('stores exclude warehouses and omit unset emails', async () => {
  const { xml } = await send('Stores')
  assert.deepEqual([xml?.name, xml?.attributes.Type], ['Stores', undefined])
  assert.equal(xml?.children.length, 10)
  const emails = xml?.children.filter(store => store.children.some(({ name }) => name === 'Email')).length
  assert.ok(emails && emails < 10)
  const warehouse = [...simulator.state.stores.values()].find(({ kind }) => kind === 'warehouse')
  assert.equal((await send(`Stores/${warehouse?.id}`)).code, 5008)
  const { status, code } = await send('Stores/abc')
  assert.deepEqual([status, code], [400, 5081])
})

test('a key and certificate enable HTTPS, also in Location', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'simulator-tls-'))
  const files = ensureLocalFiles(directory)
  const [key, cert, ca] = [files.keyFile, files.certFile, files.caFile].map(file => readFileSync(file, 'utf8'))
  const secure = await startSimulator({ sizes: { persons: 1 }, tls: { key: key ?? '', cert: cert ?? '' } })
  try {
    assert.match(secure.url, /^https:/)
    await assert.rejects(fetch(secure.url), { name: 'TypeError' })
    const clientRequest = request(`${secure.url}Persons?countryCode=AU`, {
      ca,
      method: 'POST',
      headers: { 'content-type': 'text/xml' },
    })
    clientRequest.end('<Person><Firstname>Jo</Firstname><Surname>Sample</Surname></Person>')
    const [response] = await once(clientRequest, 'response')
    response.resume()
    assert.match(String(response.headers.location), /^https:.*Persons\/\d+/)
  } finally {
    await secure.close()
    rmSync(directory, { recursive: true })
  }
})

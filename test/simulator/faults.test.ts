import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createSender } from '../../simulator/send.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { findElement, findElements, findText } from '../../simulator/xml/payload.ts'

const simulator = await startSimulator()
after(() => simulator.close())
beforeEach(() => simulator.reset())
const { faults, ledger } = simulator
const send = createSender(() => simulator.url)

/** Waits up to 5 s until the condition is true. */
async function waitUntilTrue(condition: () => boolean) {
  for (let i = 0; i < 500 && !condition(); i++) await new Promise(resolve => setTimeout(resolve, 10))
  assert.ok(condition())
}
const person = '<Person><Firstname>Jo</Firstname><Surname>Sample</Surname></Person>'
/** Asserts that a request fails because its connection breaks. */
const assertConnectionBroken = (promise: Promise<unknown>) => assert.rejects(promise, { name: 'TypeError' })

test('a fault applies to the next matching requests', async () => {
  faults.add({ kind: 'status', method: 'get', path: '/Persons/*', times: 2, retryAfter: 7 })
  assert.equal((await send('Stores')).status, 200)
  for (let i = 0; i < 2; i++) {
    const { status, headers } = await send('PERSONS/3001')
    assert.deepEqual([status, headers.get('retry-after')], [503, '7'])
  }
  assert.equal((await send('Persons/3001')).status, 200)
  assert.equal(faults.list()[0]?.matchCount, 2)
})

test('a fault with a probability is reproducible by seed', async () => {
  const run = async () => {
    simulator.reset('dice')
    faults.add({ kind: 'status', status: 429, probability: 0.5 })
    const statuses: number[] = []
    for (let i = 0; i < 20; i++) statuses.push((await send('Stores')).status)
    return statuses.join(' ')
  }
  const first = await run()
  assert.equal(await run(), first)
  assert.match(first, /200.*429|429.*200/)
})

test('latency delays a response after its effect', async () => {
  faults.add({ kind: 'latency', seconds: 0.2, times: 1 })
  const started = performance.now()
  await send('Stores')
  assert.ok(performance.now() - started >= 195)
  faults.add({ kind: 'latency', seconds: 30, applied: true, times: 1 })
  const controller = new AbortController()
  const posted = fetch(`${simulator.url}Persons?countryCode=AU`, {
    method: 'POST',
    body: person,
    headers: { 'content-type': 'text/xml' },
    signal: controller.signal,
  })
  await waitUntilTrue(() => ledger.findEffects('person created').length === 1)
  controller.abort()
  await assert.rejects(posted, { name: 'AbortError' })
})

test('a hanging server keeps the connection and sends nothing', async () => {
  faults.add({ kind: 'hang', times: 1 })
  const url = `${simulator.url}Stores?countryCode=AU`
  await assert.rejects(fetch(url, { signal: AbortSignal.timeout(200) }), { name: 'TimeoutError' })
  await waitUntilTrue(() => ledger.calls.at(-1)?.outcome === 'unanswered')
  assert.equal((await send('Stores')).status, 200)
})

test('a slow response arrives byte by byte', async () => {
  faults.add({ kind: 'slow', bytesPerSecond: 20, times: 1 })
  const controller = new AbortController()
  const response = await fetch(`${simulator.url}Stores?countryCode=AU`, { signal: controller.signal })
  const started = performance.now()
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.length
    if (bytes >= 6) break
  }
  assert.ok(bytes < 20 && performance.now() - started > 150)
  controller.abort()
})

test('a reset has no effect, a lost response has', async () => {
  faults.add({ kind: 'reset-before', times: 1 })
  await assertConnectionBroken(send('Persons', { body: person }))
  assert.equal(ledger.effects.length, 0)
  faults.add({ kind: 'lost-response', times: 1 })
  await assertConnectionBroken(send('Persons', { body: person }))
  assert.equal(ledger.findEffects('person created').length, 1)
  assert.deepEqual(
    ledger.calls.map(call => [call.outcome, call.status, call.effects.length]),
    [
      ['cut', null, 0],
      ['cut', null, 1],
    ],
  )
})

test('a reset in the middle sends the start of the response', async () => {
  faults.add({ kind: 'reset-during', times: 1 })
  const response = await fetch(`${simulator.url}Stores?countryCode=AU`)
  assert.equal(response.status, 200)
  await assertConnectionBroken(response.text())
})

test('truncated or malformed XML is sent in complete HTTP', async () => {
  for (const kind of ['truncated', 'malformed'] as const) {
    faults.add({ kind, times: 1 })
    const { status, text, xml } = await send('Stores')
    assert.deepEqual([status, xml], [200, undefined], kind)
    assert.match(text, /^<\?xml/)
  }
  faults.add({ kind: 'truncated', times: 1 })
  assert.equal((await send('Freestock/AllStyles')).xml, undefined)
})

test('web pages, errors, redirects and empty bodies replace responses', async () => {
  faults.add({ kind: 'html', times: 1 })
  const page = await send('Persons', { body: person })
  assert.deepEqual([page.status, ledger.effects.length], [500, 0])
  assert.match(page.text, /<title>500 - /)
  faults.add({ kind: 'html', applied: true, times: 1 })
  assert.equal((await send('Persons', { body: person })).status, 500)
  assert.equal(ledger.effects.length, 1)
  faults.add({ kind: 'error', status: 403, code: 5015, description: 'ORA-00600', times: 1 })
  assert.equal((await send('Stores')).code, 5015)
  faults.add({ kind: 'redirect', times: 1 })
  assert.equal((await send('Stores')).status, 302)
  faults.add({ kind: 'empty-body', times: 1 })
  assert.equal((await send('Stores')).text, '')
})

test('a wrong root is a single record or a configured name', async () => {
  faults.add({ kind: 'wrong-root', times: 1 })
  assert.equal((await send('Persons?surname=s')).xml?.name, 'Person')
  faults.add({ kind: 'wrong-root', root: 'Customers', times: 1 })
  assert.equal((await send('Persons?surname=s')).xml?.name, 'Customers')
})

test('pages can repeat forever or change their order', async () => {
  const readIds = async (start: number) =>
    findElements((await send(`ProductsSimple?startRow=${start}&pageRows=10`)).xml, 'ProductSimple')
      .map(element => findText(element, 'Id'))
      .join()
  const [first, second] = [await readIds(1), await readIds(11)]
  assert.notEqual(first, second)
  const same = faults.add({ kind: 'same-page' })
  assert.equal(await readIds(11), first)
  assert.equal(await readIds(1_001), first)
  faults.remove(same.id)
  faults.add({ kind: 'shuffled' })
  assert.notEqual(await readIds(1), first)
})

test('format deviations preserve the data', async () => {
  const plain = await send('Persons/3001')
  const name = findText(plain.xml, 'Surname')
  for (const kind of [
    'reordered',
    'extra-elements',
    'trailing-blanks',
    'carriage-returns',
    'bom',
    'no-declaration',
  ] as const) {
    faults.add({ kind, times: 1 })
    const deviating = await send('Persons/3001')
    assert.notEqual(deviating.text, plain.text, kind)
    assert.equal(findText(deviating.xml, 'Surname'), name, kind)
    assert.equal(findElements(findElement(deviating.xml, 'References'), 'Reference').length, 4, kind)
  }
})

test('a DOCTYPE with entities and an endless body are available', async () => {
  faults.add({ kind: 'dtd', times: 1 })
  assert.match((await send('Stores')).text, /<!ENTITY file SYSTEM "file:\/\/\/etc\/passwd">.*&a12;&file;/s)
  faults.add({ kind: 'endless', times: 1 })
  const response = await fetch(`${simulator.url}Stores?countryCode=AU`)
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.length
    if (bytes > 5_000_000) break
  }
  assert.ok(bytes > 5_000_000)
})

test('a wrong clock affects timestamps and the Date header', async () => {
  simulator.clock.freeze('2026-02-03T05:32:15Z')
  faults.add({ kind: 'wrong-clock', seconds: 3_600, times: 1 })
  const { headers } = await send('Persons', { body: person })
  assert.equal(headers.get('date'), 'Tue, 03 Feb 2026 06:32:15 GMT')
  const id = Number(ledger.effects[0]?.id)
  assert.equal(findText((await send(`Persons/${id}`)).xml, 'UpdateTimeStamp'), '3/02/2026 5:32:15 PM')
})

test('a person can be edited between a GET and a PUT', async () => {
  const timestamp = findText((await send('Persons/3001')).xml, 'UpdateTimeStamp')
  faults.add({
    kind: 'concurrent-change',
    method: 'PUT',
    path: '/Persons/*',
    times: 1,
    change: { kind: 'edit-person', fields: { jobTitle: 'Cook', references: { 1322: 4421 } } },
  })
  const body = `<Person><Firstname>A</Firstname><Surname>B</Surname><UpdateTimeStamp>${timestamp}</UpdateTimeStamp></Person>`
  assert.equal((await send('Persons/3001', { method: 'PUT', body })).code, 5010)
  assert.equal(simulator.state.persons.get(3001)?.jobTitle, 'Cook')
})

test('a closed port reopens with the same number', async () => {
  await simulator.stopAccepting()
  await assertConnectionBroken(send('Stores'))
  await simulator.accept()
  assert.equal((await send('Stores')).status, 200)
})

test('an invalid fault is rejected', () => {
  for (const wrong of [
    { kind: 'gremlin' },
    { kind: 'latency', seconds: '1' },
    { kind: 'html', colour: 'red' },
    { kind: 'concurrent-change' },
  ])
    assert.throws(() => faults.add(wrong as never), TypeError)
})

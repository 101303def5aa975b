import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildCustomer } from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import { post, put } from '../../support/write.ts'
import { harmlessDeviations } from '../servers.ts'
import { countRows } from '../shop.ts'
import { account, measure, startFaultFixture } from './fault-fixture.ts'

const { api, simulator, logLines, createServiceFor, startServer, getLivePath, findPerson, assertInvalidResponse } =
  await startFaultFixture()
const getMemoryMb = () => process.memoryUsage.rss() / 1024 ** 2
/** Returns by how many MB the memory of this process grew at most while `work` ran. */
async function measureGrowth(work: () => Promise<unknown>) {
  const before = getMemoryMb()
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, getMemoryMb())
  }, 5)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return Math.max(peak, getMemoryMb()) - before
}

test('a web server page is 502 and is never passed on', async () => {
  const caller = await createServiceFor(simulator.url)
  for (const status of [500, 200, 400, 404]) {
    simulator.faults.clear()
    simulator.faults.add({ kind: 'html', status })
    assertInvalidResponse(await caller.get(getLivePath()), `${status}`)
    assertInvalidResponse(await post(caller, '/customers', buildCustomer()), `${status}`)
  }
  assert.equal(await countRows(caller, api, 'customer'), 0)
})

test('truncated or malformed XML is retried once, then 502, and never stored', async () => {
  const person = findPerson()
  for (const kind of ['truncated', 'malformed'] as const) {
    const caller = await createServiceFor(simulator.url)
    for (const sync of ['references', 'stores', 'customers']) await caller.sync(sync)
    const getShown = async () => (await caller.get('/customers/search')).json.data
    const before = await getShown()
    simulator.ledger.clear()
    const fault = simulator.faults.add({ kind, times: 1 })
    assert.equal((await caller.get(getLivePath())).status, 200)
    assert.deepEqual([fault.matchCount, simulator.ledger.calls.length], [1, 2], kind)
    simulator.ledger.clear()
    simulator.faults.add({ kind })
    assertInvalidResponse(await caller.get(getLivePath()), kind)
    assert.equal(simulator.ledger.calls.length, 2, kind)
    simulator.change({ kind: 'edit-person', id: person.id, fields: { jobTitle: kind, surname: `S ${kind}` } })
    assertInvalidResponse(await put(caller, `/customers/${person.id}`, { title: 'Dr' }), kind)
    await assert.rejects(caller.sync('customers'), { code: 'back_office_error' })
    assert.deepEqual(await getShown(), before, kind)
    assert.deepEqual(
      [await countRows(caller, api, 'audit'), simulator.ledger.findCalls({ method: 'PUT' }).length],
      [0, 0],
    )
    simulator.faults.clear()
    await caller.sync('customers')
    const { json } = await caller.get(`/customers/${person.id}`)
    assert.deepEqual([json.data.surname, json.data.title], [`S ${kind}`, person.title || null])
  }
})

test('harmless format deviations are accepted; another root is 502', async () => {
  const caller = await createServiceFor(simulator.url)
  for (const sync of ['references', 'stores', 'products', 'customers']) await caller.sync(sync)
  const getShown = async () => [
    (await caller.get(getLivePath())).json.data,
    ...(await Promise.all(['/customers/search', '/products'].map(async path => (await caller.get(path)).json.data))),
  ]
  const before = await getShown()
  assert.ok(before[1].length >= 25 && before[2].length > 3)
  for (const kind of harmlessDeviations) {
    simulator.faults.clear()
    simulator.faults.add({ kind })
    for (const sync of ['customers', 'products']) assert.equal((await caller.sync(sync))?.rejected, 0, kind)
    assert.deepEqual(await getShown(), before, kind)
  }
  simulator.faults.clear()
  simulator.faults.add({ kind: 'wrong-root', root: 'Unexpected' })
  assertInvalidResponse(await caller.get(getLivePath()))
  await assert.rejects(caller.sync('customers'), { code: 'back_office_error' })
  simulator.faults.clear()
  assert.deepEqual(await getShown(), before)
})

test('a document type declaration is 502 without any expansion or fetch', async t => {
  const file = join(tmpdir(), `tillbridge-${randomUUID()}.txt`)
  writeFileSync(file, 'canary-of-a-file')
  t.after(() => rmSync(file))
  let requestCount = 0
  const entityServer = await startServer((_, response) => {
    requestCount++
    response.end('<!ENTITY x "canary-of-a-file">')
  })
  const bomb = Array.from({ length: 12 }, (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`).join('')
  const documents = [
    `<!DOCTYPE a [<!ENTITY a0 "${'ha'.repeat(50)}">${bomb}]>${account.replace('>R<', '>&a12;<')}`,
    `<!DOCTYPE a [<!ENTITY f SYSTEM "file://${file}">]>${account.replace('>R<', '>&f;<')}`,
    `<!DOCTYPE a SYSTEM "${entityServer}/a.dtd">${account}`,
    `<!DOCTYPE a [<!ENTITY % p SYSTEM "${entityServer}/p">%p;]>${account.replace('>R<', '>&x;<')}`,
    account.replace('>R<', '>&a12;<'),
  ]
  let nextBody = ''
  const caller = await createServiceFor(
    await startServer((_, response) => response.end(`<?xml version="1.0"?>${nextBody}`)),
  )
  nextBody = account
  assert.equal((await caller.get('/rewards/accounts/7')).status, 200, 'the account without a document type is valid')
  const growthMb = await measureGrowth(async () => {
    for (nextBody of documents) {
      const { response, ms } = await measure(caller.get('/rewards/accounts/7'))
      assertInvalidResponse(response, nextBody.slice(0, 60))
      assert.doesNotMatch(response.text, /canary/)
      assert.ok(ms < 1_000, `${ms} ms`)
    }
  })
  assert.equal(requestCount, 0)
  assert.doesNotMatch(logLines.join(''), /canary-of-a-file/)
  assert.ok(growthMb < 60, `${growthMb} MB`)
})

test('a huge or endless body is cut off with bounded memory', async () => {
  let sentBytes = 0
  const chunk = Buffer.from(`<Gift><IssueId>1</IssueId><GiftName>${'x'.repeat(900)}</GiftName></Gift>\n`.repeat(64))
  const bodies: Record<string, RequestListener> = {
    'a gigabyte': (_, response) => {
      response.setHeader('content-length', 1024 ** 3)
      sendEndlessly(response, 200)
    },
    'no end': (_, response) => sendEndlessly(response, 200),
    'a page without an end': (_, response) => sendEndlessly(response, 500),
  }
  function sendEndlessly(response: Parameters<RequestListener>[1], status: number) {
    response.statusCode = status
    response.write('<RewardAccount><GiftList Type="Array">')
    const sendMore = () => {
      while (!response.destroyed) {
        sentBytes += chunk.length
        if (!response.write(chunk)) return void response.once('drain', sendMore)
      }
    }
    sendMore()
  }
  for (const [label, listener] of Object.entries(bodies)) {
    const caller = await createServiceFor(await startServer(listener), { maxRetryWaitMs: 0 })
    sentBytes = 0
    const growthMb = await measureGrowth(async () =>
      assertInvalidResponse(await caller.get('/rewards/accounts/7'), label),
    )
    assert.ok(sentBytes < 64 * 1024 ** 2, `${label}: ${sentBytes} bytes`)
    assert.ok(growthMb < 160, `${label}: ${growthMb} MB`)
  }
})

test('missing data is 404; rejections are 4xx or 502 with our text', async () => {
  const caller = await createServiceFor(simulator.url)
  assertProblem(await caller.get('/rewards/accounts/999999'), 'not_found', api.baseUrl, '/rewards/accounts/999999')
  assertProblem(await put(caller, '/customers/999999', { title: 'Dr' }), 'not_found', api.baseUrl, '/customers/999999')
  simulator.faults.add({ kind: 'error', status: 404, code: 5008, path: '/Persons' })
  assert.equal((await caller.sync('customers'))?.read, 0)
  assert.deepEqual((await caller.get('/customers/search')).json.data, [])
  const description = `ORA-00942 at http://127.0.0.1/RetailAPI <b>secret</b>`
  for (const [status, code] of [
    [403, 5999],
    [403, 5030],
    [400, 5151],
    [500, 5015],
  ] as const) {
    simulator.faults.clear()
    simulator.faults.add({ kind: 'error', status, code, description })
    const response = await caller.get(getLivePath())
    assertInvalidResponse(response, `${code}`)
    assert.doesNotMatch(response.text, /ORA|secret|5999|5015/)
  }
  simulator.faults.clear()
  simulator.faults.add({ kind: 'error', status: 403, code: 5006, description, method: 'POST', path: '/Persons' })
  assertProblem(await post(caller, '/customers', buildCustomer()), 'email_taken', api.baseUrl, '/customers')
})

test('a reference value that cannot be fetched prevents response and storage', async () => {
  const caller = await createServiceFor(simulator.url)
  for (const sync of ['references', 'stores', 'customers']) await caller.sync(sync)
  const person = findPerson()
  const path = `/customers/${person.id}`
  const getShown = async () => (await caller.get(path)).json.data
  const before = await getShown()
  const type =
    [...simulator.state.referenceTypes.values()].find(referenceType => referenceType.recordType === 'person') ??
    assert.fail()
  const addReferenceValue = (code: string) => {
    const value = simulator.change({ kind: 'add-reference', typeId: type.id, code, name: `Brand ${code}` })
    simulator.change({ kind: 'edit-person', id: person.id, fields: { references: { [type.id]: Number(value) } } })
    return { code, name: `Brand ${code}`, referenceValueId: value }
  }
  const listValues = (data: { references: object }) => Object.values(data.references)

  const first = addReferenceValue('N1')
  simulator.faults.add({ kind: 'html', path: '/References/*' })
  await assert.rejects(caller.sync('customers'), { code: 'back_office_error' })
  assert.deepEqual(await getShown(), before)
  assertInvalidResponse(await put(caller, path, { title: 'Dr' }))
  assert.deepEqual([await getShown(), person.title], [before, before.title ?? ''])
  simulator.faults.clear()
  await caller.sync('customers')
  assert.deepEqual(
    listValues(await getShown()).filter(value => (value as { code: string }).code === 'N1'),
    [first],
  )

  const second = addReferenceValue('N2')
  const response = await put(caller, path, { title: 'Dr' })
  assert.equal(response.status, 200, response.text)
  assert.deepEqual(
    listValues(response.json.data).filter(value => (value as { code: string }).code === 'N2'),
    [second],
  )
  assert.deepEqual(response.json.data, await getShown())
})

test('repeated or shuffled pages fail the sync and keep the list', async () => {
  const caller = await createServiceFor(simulator.url, { maxRetryWaitMs: 0, pageRows: 5 })
  for (const sync of ['references', 'stores', 'customers']) await caller.sync(sync)
  const getShown = async () => {
    const { data } = (await caller.get('/customers/search')).json
    return data
  }
  const getSyncStatus = async () =>
    (await caller.get('/capabilities')).json.data.sync.find(({ sync }: { sync: string }) => sync === 'customers')
  const [before, facts] = [await getShown(), await getSyncStatus()]
  assert.deepEqual([before.length, facts.lastResult], [simulator.state.persons.size, 'ok'])
  for (const kind of ['same-page', 'shuffled'] as const) {
    const logLineCount = logLines.length
    simulator.faults.add({ kind, path: '/Persons' })
    simulator.ledger.clear()
    await assert.rejects(caller.sync('customers'), { code: 'back_office_error' })
    assert.ok(simulator.ledger.findCalls({ path: '/Persons' }).length < 12, 'the sync must stop early')
    assert.deepEqual(await getShown(), before)
    const { lastResult, syncedAt } = await getSyncStatus()
    assert.deepEqual([lastResult, syncedAt], ['failed', facts.syncedAt])
    assert.match(logLines.slice(logLineCount).join(''), /list pages inconsistent|fewer records/)
    simulator.faults.clear()
  }
  await caller.sync('customers')
  assert.equal((await getSyncStatus()).lastResult, 'ok')
})

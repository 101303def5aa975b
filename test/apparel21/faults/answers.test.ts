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
import { count } from '../shop.ts'
import { oddities } from '../stand-in.ts'
import { account, frontingOfTests, took } from './fronting.ts'

const { api, simulator, logged, fronting, serving, live, aPerson, isNonsense } = await frontingOfTests()
const megabytes = () => process.memoryUsage.rss() / 1024 ** 2
/** The most that memory grows by while something runs. */
async function growth(work: () => Promise<unknown>) {
  const before = megabytes()
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, megabytes())
  }, 5)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return Math.max(peak, megabytes()) - before
}

test('a web server page is 502 and is never passed on', async () => {
  const caller = await fronting(simulator.url)
  for (const status of [500, 200, 400, 404]) {
    simulator.faults.clear()
    simulator.faults.add({ kind: 'html', status })
    isNonsense(await caller.get(live()), `${status}`)
    isNonsense(await post(caller, '/customers', buildCustomer()), `${status}`)
  }
  assert.equal(await count(caller, api, 'customer'), 0)
})

test('truncated or malformed XML is retried once, then 502, and never stored', async () => {
  const person = aPerson()
  for (const kind of ['truncated', 'malformed'] as const) {
    const caller = await fronting(simulator.url)
    for (const sync of ['references', 'stores', 'customers']) await caller.sync(sync)
    const shown = async () => (await caller.get('/customers/search')).json.data
    const before = await shown()
    simulator.ledger.clear()
    const fault = simulator.faults.add({ kind, times: 1 })
    assert.equal((await caller.get(live())).status, 200)
    assert.deepEqual([fault.met, simulator.ledger.calls.length], [1, 2], kind)
    simulator.ledger.clear()
    simulator.faults.add({ kind })
    isNonsense(await caller.get(live()), kind)
    assert.equal(simulator.ledger.calls.length, 2, kind)
    simulator.change({ kind: 'edit-person', id: person.id, fields: { jobTitle: kind, surname: `S ${kind}` } })
    isNonsense(await put(caller, `/customers/${person.id}`, { title: 'Dr' }), kind)
    await assert.rejects(caller.sync('customers'), { code: 'back_office_error' })
    assert.deepEqual(await shown(), before, kind)
    assert.deepEqual([await count(caller, api, 'audit'), simulator.ledger.callsTo({ method: 'PUT' }).length], [0, 0])
    simulator.faults.clear()
    await caller.sync('customers')
    const { json } = await caller.get(`/customers/${person.id}`)
    assert.deepEqual([json.data.surname, json.data.title], [`S ${kind}`, person.title || null])
  }
})

test('harmless format deviations are accepted; another root is 502', async () => {
  const caller = await fronting(simulator.url)
  for (const sync of ['references', 'stores', 'products', 'customers']) await caller.sync(sync)
  const shown = async () => [
    (await caller.get(live())).json.data,
    ...(await Promise.all(['/customers/search', '/products'].map(async path => (await caller.get(path)).json.data))),
  ]
  const before = await shown()
  assert.ok(before[1].length >= 25 && before[2].length > 3)
  for (const kind of oddities) {
    simulator.faults.clear()
    simulator.faults.add({ kind })
    for (const sync of ['customers', 'products']) assert.equal((await caller.sync(sync))?.rejected, 0, kind)
    assert.deepEqual(await shown(), before, kind)
  }
  simulator.faults.clear()
  simulator.faults.add({ kind: 'wrong-root', root: 'Unexpected' })
  isNonsense(await caller.get(live()))
  await assert.rejects(caller.sync('customers'), { code: 'back_office_error' })
  simulator.faults.clear()
  assert.deepEqual(await shown(), before)
})

test('a document type declaration is 502 without any expansion or fetch', async t => {
  const file = join(tmpdir(), `tillbridge-${randomUUID()}.txt`)
  writeFileSync(file, 'canary-of-a-file')
  t.after(() => rmSync(file))
  let called = 0
  const elsewhere = await serving((_, response) => {
    called++
    response.end('<!ENTITY x "canary-of-a-file">')
  })
  const bomb = Array.from({ length: 12 }, (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`).join('')
  const documents = [
    `<!DOCTYPE a [<!ENTITY a0 "${'ha'.repeat(50)}">${bomb}]>${account.replace('>R<', '>&a12;<')}`,
    `<!DOCTYPE a [<!ENTITY f SYSTEM "file://${file}">]>${account.replace('>R<', '>&f;<')}`,
    `<!DOCTYPE a SYSTEM "${elsewhere}/a.dtd">${account}`,
    `<!DOCTYPE a [<!ENTITY % p SYSTEM "${elsewhere}/p">%p;]>${account.replace('>R<', '>&x;<')}`,
    account.replace('>R<', '>&a12;<'),
  ]
  let next = ''
  const caller = await fronting(await serving((_, response) => response.end(`<?xml version="1.0"?>${next}`)))
  next = account
  assert.equal((await caller.get('/rewards/accounts/7')).status, 200, 'it is the document type that is rejected')
  const grown = await growth(async () => {
    for (next of documents) {
      const { response, ms } = await took(caller.get('/rewards/accounts/7'))
      isNonsense(response, next.slice(0, 60))
      assert.doesNotMatch(response.text, /canary/)
      assert.ok(ms < 1_000, `${ms} ms`)
    }
  })
  assert.equal(called, 0)
  assert.doesNotMatch(logged.join(''), /canary-of-a-file/)
  assert.ok(grown < 60, `${grown} MB`)
})

test('a huge or endless body is cut off with bounded memory', async () => {
  let sent = 0
  const piece = Buffer.from(`<Gift><IssueId>1</IssueId><GiftName>${'x'.repeat(900)}</GiftName></Gift>\n`.repeat(64))
  const bodies: Record<string, RequestListener> = {
    'a gigabyte': (_, response) => {
      response.setHeader('content-length', 1024 ** 3)
      pour(response, 200)
    },
    'no end': (_, response) => pour(response, 200),
    'a page without an end': (_, response) => pour(response, 500),
  }
  function pour(response: Parameters<RequestListener>[1], status: number) {
    response.statusCode = status
    response.write('<RewardAccount><GiftList Type="Array">')
    const more = () => {
      while (!response.destroyed) {
        sent += piece.length
        if (!response.write(piece)) return void response.once('drain', more)
      }
    }
    more()
  }
  for (const [label, listener] of Object.entries(bodies)) {
    const caller = await fronting(await serving(listener), { maxRetryWaitMs: 0 })
    sent = 0
    const grown = await growth(async () => isNonsense(await caller.get('/rewards/accounts/7'), label))
    assert.ok(sent < 64 * 1024 ** 2, `${label}: ${sent} bytes`)
    assert.ok(grown < 160, `${label}: ${grown} MB`)
  }
})

test('missing data is 404; rejections are 4xx or 502 with our text', async () => {
  const caller = await fronting(simulator.url)
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
    const response = await caller.get(live())
    isNonsense(response, `${code}`)
    assert.doesNotMatch(response.text, /ORA|secret|5999|5015/)
  }
  simulator.faults.clear()
  simulator.faults.add({ kind: 'error', status: 403, code: 5006, description, method: 'POST', path: '/Persons' })
  assertProblem(await post(caller, '/customers', buildCustomer()), 'email_taken', api.baseUrl, '/customers')
})

test('a reference value that cannot be fetched prevents response and storage', async () => {
  const caller = await fronting(simulator.url)
  for (const sync of ['references', 'stores', 'customers']) await caller.sync(sync)
  const person = aPerson()
  const path = `/customers/${person.id}`
  const shown = async () => (await caller.get(path)).json.data
  const before = await shown()
  const type =
    [...simulator.state.referenceTypes.values()].find(referenceType => referenceType.of === 'person') ?? assert.fail()
  const fresh = (code: string) => {
    const value = simulator.change({ kind: 'add-reference', typeId: type.id, code, name: `Brand ${code}` })
    simulator.change({ kind: 'edit-person', id: person.id, fields: { references: { [type.id]: Number(value) } } })
    return { code, name: `Brand ${code}`, referenceValueId: value }
  }
  const values = (data: { references: object }) => Object.values(data.references)

  const first = fresh('N1')
  simulator.faults.add({ kind: 'html', path: '/References/*' })
  await assert.rejects(caller.sync('customers'), { code: 'back_office_error' })
  assert.deepEqual(await shown(), before)
  isNonsense(await put(caller, path, { title: 'Dr' }))
  assert.deepEqual([await shown(), person.title], [before, before.title ?? ''])
  simulator.faults.clear()
  await caller.sync('customers')
  assert.deepEqual(
    values(await shown()).filter(value => (value as { code: string }).code === 'N1'),
    [first],
  )

  const second = fresh('N2')
  const response = await put(caller, path, { title: 'Dr' })
  assert.equal(response.status, 200, response.text)
  assert.deepEqual(
    values(response.json.data).filter(value => (value as { code: string }).code === 'N2'),
    [second],
  )
  assert.deepEqual(response.json.data, await shown())
})

test('repeated or shuffled pages fail the sync and keep the list', async () => {
  const caller = await fronting(simulator.url, { maxRetryWaitMs: 0, pageRows: 5 })
  for (const sync of ['references', 'stores', 'customers']) await caller.sync(sync)
  const shown = async () => {
    const { data } = (await caller.get('/customers/search')).json
    return data
  }
  const fact = async () =>
    (await caller.get('/capabilities')).json.data.sync.find(({ sync }: { sync: string }) => sync === 'customers')
  const [before, facts] = [await shown(), await fact()]
  assert.deepEqual([before.length, facts.lastResult], [simulator.state.persons.size, 'ok'])
  for (const kind of ['same-page', 'shuffled'] as const) {
    const said = logged.length
    simulator.faults.add({ kind, path: '/Persons' })
    simulator.ledger.clear()
    await assert.rejects(caller.sync('customers'), { code: 'back_office_error' })
    assert.ok(simulator.ledger.callsTo({ path: '/Persons' }).length < 12, 'it is stopped')
    assert.deepEqual(await shown(), before)
    const { lastResult, syncedAt } = await fact()
    assert.deepEqual([lastResult, syncedAt], ['failed', facts.syncedAt])
    assert.match(logged.slice(said).join(''), /list pages inconsistent|fewer records/)
    simulator.faults.clear()
  }
  await caller.sync('customers')
  assert.equal((await fact()).lastResult, 'ok')
})

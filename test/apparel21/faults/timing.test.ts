import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type SimulatorOptions, startSimulator } from '../../../simulator/simulator.ts'
import { buildSyncs } from '../../../src/backoffice/apparel21/syncs/syncs.ts'
import { runSync } from '../../../src/sync/sync.ts'
import { connectToBackOffice } from '../../drivers/apparel21.ts'
import { buildCustomer } from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import { waitUntil } from '../../support/processes.ts'
import type { TestResponse } from '../../support/service.ts'
import { post, withKey } from '../../support/write.ts'
import { countRows } from '../shop.ts'
import { account, measure, shortLimits, startFaultFixture } from './fault-fixture.ts'

const { api, simulator, createServiceFor, startServer, startRawServer, getLivePath, assertUnavailable } =
  await startFaultFixture()

test('calls end at the deadline and stop after five timeouts', async () => {
  const requests: string[] = []
  const { url } = await startRawServer(socket =>
    socket.on('data', bytes => requests.push(String(bytes).slice(0, 4).trim())),
  )
  const caller = await createServiceFor(url, { ...shortLimits, deadlineMs: 300, openMs: 60_000 })
  for (let i = 0; i < 5; i++) {
    const { response, ms } = await measure(caller.get('/rewards/accounts/7'))
    assertUnavailable(response)
    assert.ok(ms > 290 && ms < 1_500, `${ms} ms`)
  }
  const callCount = requests.length
  for (let i = 0; i < 5; i++) {
    const { response, ms } = await measure(caller.get('/rewards/accounts/7'))
    assertUnavailable(response)
    assert.ok(ms < 250 && Number(response.headers['retry-after']) > 30, `${ms} ms`)
  }
  assertUnavailable(await post(caller, '/customers', buildCustomer(), withKey()))
  assert.equal(requests.length, callCount)
  const other = await createServiceFor(simulator.url)
  assert.equal((await other.get(getLivePath())).status, 200)

  const writer = await createServiceFor(simulator.url)
  simulator.faults.add({ kind: 'hang', method: 'POST', path: '/Persons' })
  const { response, ms } = await measure(post(writer, '/customers', buildCustomer(), withKey()))
  assertProblem(response, 'outcome_unknown', api.baseUrl)
  assert.ok(ms > 690 && ms < 2_500, `${ms} ms`)
  assert.equal(await countRows(writer, api, 'customer'), 0)
})

test('a response that drips byte by byte ends at the deadline', async () => {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: ${account.length}\r\n\r\n`
  for (const [where, at] of [
    ['head', 10],
    ['body', head.length + 10],
  ] as const) {
    const { url } = await startRawServer(socket =>
      socket.once('data', () => {
        const fullResponse = head + account
        socket.write(fullResponse.slice(0, at))
        let sentBytes = at
        const timer = setInterval(() => socket.write(fullResponse.charAt(sentBytes++)), 60)
        socket.once('close', () => clearInterval(timer))
      }),
    )
    const caller = await createServiceFor(url, { ...shortLimits, failureThreshold: 2, openMs: 60_000 })
    for (let i = 0; i < 2; i++) {
      const { response, ms } = await measure(caller.get('/rewards/accounts/7'))
      assertUnavailable(response)
      assert.ok(ms > 690 && ms < 2_000, `${where}: ${ms} ms`)
    }
    const { response, ms } = await measure(caller.get('/rewards/accounts/7'))
    assertUnavailable(response)
    assert.ok(ms < 250, `${where}: the circuit breaker must be open`)
  }
})

test('an unstable back office is probed singly and never yields wrong data', async t => {
  const caller = await createServiceFor(simulator.url, {
    ...shortLimits,
    failureThreshold: 3,
    openMs: 150,
    maxOpenMs: 300,
  })
  simulator.ledger.clear()
  let requestCount = 0
  const pending: Promise<TestResponse>[] = []
  const request = () => {
    requestCount++
    const response = caller.get(getLivePath())
    pending.push(response)
    return response
  }
  const timer = setInterval(request, 15)
  t.after(() => clearInterval(timer))
  const [body, key] = [buildCustomer(), withKey()]
  let created: TestResponse | undefined
  let attempts = 0
  const writing = (async () => {
    while (created?.status !== 201 && attempts < 500) {
      attempts++
      created = await post(caller, '/customers', body, key)
      if (created.status !== 201) await delay(40)
    }
  })()
  let whileDown = { requests: 0, upstream: 0 }
  for (let round = 0; round < 4; round++) {
    const began = { requests: requestCount, upstream: simulator.ledger.calls.length }
    if (round % 2) await simulator.stopAccepting()
    else simulator.faults.add({ kind: 'down' })
    await delay(500)
    whileDown = {
      requests: whileDown.requests + requestCount - began.requests,
      upstream: whileDown.upstream + simulator.ledger.calls.length - began.upstream,
    }
    simulator.faults.clear()
    await simulator.accept()
    const up = performance.now()
    await waitUntil(async () => (await request()).status === 200, 'the back office is available again', 3_000)
    assert.ok(performance.now() - up < 1_500, 'calls resume within the longest open time')
    await delay(100)
  }
  clearInterval(timer)
  await writing
  for (const response of await Promise.all(pending)) if (response.status !== 200) assertUnavailable(response)
  assert.equal(simulator.ledger.findEffects('person created').length, 1)
  const calls = simulator.ledger.calls.length
  assert.ok(calls <= 1.1 * (requestCount + 3 * attempts), `${calls} calls for ${requestCount} and ${attempts}`)
  assert.ok(
    whileDown.upstream < whileDown.requests / 2,
    `${whileDown.upstream} calls for ${whileDown.requests} while down`,
  )
})

test('a back office clock an hour off loses no change', async t => {
  for (const hours of [1, -1]) {
    const ahead = await startOwnSimulator(t, { sizes: { stores: 1, styles: 1, persons: 5, vouchers: 0 } })
    ahead.clock.advance(hours * 3_600)
    const caller = await createServiceFor(ahead.url)
    for (const sync of ['references', 'stores', 'customers']) await caller.sync(sync)
    const { client, release } = connectToBackOffice(ahead)
    t.after(() => client.close())
    const sync = buildSyncs(client, release).find(({ name }) => name === 'customers') ?? assert.fail()
    let { asOf } = (await caller.get('/customers/search')).json.meta
    for (const id of [...ahead.state.persons.keys()].slice(0, 3)) {
      ahead.clock.advance(2)
      ahead.change({ kind: 'edit-person', id, fields: { surname: `S${id}` } })
      assert.equal((await runSync(api.db, caller.service, sync))?.isFull, false)
      const { data, meta } = (await caller.get(`/customers/search?updated_after=${encodeURIComponent(asOf)}`)).json
      assert.deepEqual(
        data.map((record: { id: string; surname: string }) => [record.id, record.surname]),
        [[String(id), `S${id}`]],
      )
      asOf = meta.asOf
    }
  }
})

test('a short Retry-After is waited out; a long one stops calls', async () => {
  const arrived: number[] = []
  let rejection: { status: number; seconds: number } | undefined
  const url = await startServer((_, response) => {
    arrived.push(performance.now())
    if (!rejection) return void response.end(account)
    response.writeHead(rejection.status, { 'retry-after': String(rejection.seconds) }).end()
    rejection = undefined
  })
  const caller = await createServiceFor(url, { ...shortLimits, deadlineMs: 5_000, maxRetryWaitMs: 2_000 })
  const request = () => caller.get('/rewards/accounts/7')
  for (const status of [429, 503]) {
    arrived.length = 0
    rejection = { status, seconds: 1 }
    const began = performance.now()
    const first = request()
    await waitUntil(() => arrived.length === 1, 'the first call arrives')
    const responses = await Promise.all([first, request(), request(), request()])
    assert.deepEqual(
      responses.map(response => response.status),
      [200, 200, 200, 200],
    )
    assert.ok(
      arrived.slice(1).every(at => at - began >= 1_000),
      `${status}: ${arrived.map(at => at - began)}`,
    )
    const [, ...later] = arrived
    assert.ok(Math.max(...later) - Math.min(...later) > 2, 'retries must be spread over time')
  }
  arrived.length = 0
  rejection = { status: 503, seconds: 40 }
  for (let i = 0; i < 6; i++) {
    const response = i % 2 ? await post(caller, '/customers', buildCustomer(), withKey()) : await request()
    assertUnavailable(response)
    const seconds = Number(response.headers['retry-after'])
    assert.ok(seconds > 35 && seconds <= 48, `${seconds} s`)
  }
  assert.equal(arrived.length, 1)
})

test('an extreme Retry-After stops calls for at most five minutes', async () => {
  for (const retryAfter of ['999999', 'Fri, 01 Jan 2100 00:00:00 GMT']) {
    const url = await startServer((_, response) => response.writeHead(503, { 'retry-after': retryAfter }).end())
    const caller = await createServiceFor(url)
    for (let i = 0; i < 2; i++) {
      const response = await caller.get('/rewards/accounts/7')
      assertUnavailable(response)
      const seconds = Number(response.headers['retry-after'])
      assert.ok(seconds > 290 && seconds <= 300, `${retryAfter}: ${seconds} s`)
    }
  }
})

async function startOwnSimulator(t: TestContext, options: SimulatorOptions) {
  const created = await startSimulator(options)
  t.after(() => created.close())
  return created
}

import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { after, test } from 'node:test'
import { sql } from '../../../src/database/db.ts'
import { buildCustomer } from '../../support/customer-bodies.ts'
import { buildBasicAuth, buildCredentials, createRequester } from '../../support/servers.ts'
import { startTestApi, type TestResponse } from '../../support/service.ts'
import { waitForMinuteStart } from '../../support/voucher-shop.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off' } })
after(() => api.stop())
const sendFromAddress = createRequester(api)

/**
 * Lets a crowd send requests without a pause until another client has ten responses. Counts the crowd's responses by
 * status.
 */
async function serveDuringCrowd(
  size: number,
  send: (i: number) => Promise<TestResponse>,
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>()
  let requestCount = 0
  let isDone = false
  const crowd = Array.from({ length: size }, async () => {
    while (!isDone) {
      const { status } = await send(requestCount++)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })
  for (let i = 0; i < 10; i++) {
    const { status, text } = await api.get('/stores')
    assert.equal(status, 200, text)
  }
  isDone = true
  await Promise.all(crowd)
  return statuses
}

test('a client over its limit is throttled while another service is served', async () => {
  const greedy = await api.createService({ readsPerMinute: 5 })
  const statuses = await serveDuringCrowd(20, () => greedy.get('/stores'))
  assert.deepEqual([...statuses.keys()].sort(), [200, 429])
  assert.equal(statuses.get(200), 5)
  assert.ok((statuses.get(429) ?? 0) > 20, `${statuses.get(429)}`)
})

test('growing load gets responses or Retry-After, and no acknowledged write is lost', async () => {
  const { service, ...caller } = await api.createService({ readsPerMinute: 'off', writesPerMinute: 'off' })
  const agent = new Agent({ keepAlive: true, ca: api.ca, maxSockets: 600 })
  const sendRequest = createRequester({ ...api, agent })
  const headers = { ...buildCredentials({ ...caller, service }), 'content-type': 'application/json' }
  let customerCount = 0
  const sendStep = (clients: number) =>
    Promise.all(
      Array.from({ length: clients }, async (_, i) => {
        const read = await sendRequest('/stores', { headers })
        const body = JSON.stringify(buildCustomer({ surname: `Step ${++customerCount}` }))
        return i % 5 ? [read] : [read, await sendRequest('/customers', { method: 'POST', headers, body })]
      }),
    ).then(responses => responses.flat())
  try {
    const responses = [...(await sendStep(10)), ...(await sendStep(500)), ...(await sendStep(10))]
    const unexpected = responses.filter(
      ({ status, headers: responseHeaders }) => status > 201 && !(status === 503 && responseHeaders['retry-after']),
    )
    assert.deepEqual(
      unexpected.map(({ text }) => text),
      [],
    )
    const created = responses.filter(({ status }) => status === 201).length
    assert.ok(created >= 4, `${created}`)
    const storedCount = await api.db.run(
      sql`select from customer where service_id = ${service.id} and surname like 'Step %'`,
    )
    assert.equal(storedCount, created)
    assert.ok(responses.slice(-12).every(({ status }) => status < 300))
  } finally {
    agent.destroy()
  }
})

test('continuous wrong sign-ins from many addresses do not delay valid ones', async () => {
  await waitForMinuteStart(api)
  const guess = (i: number) =>
    sendFromAddress('/stores', {
      headers: { ...buildCredentials(api), authorization: buildBasicAuth(`guess${i % 150}:wrong`) },
      from: `127.0.0.${2 + (i % 5)}`,
    })
  const statuses = await serveDuringCrowd(20, guess)
  const rejected = [...statuses.values()].reduce((sum, count) => sum + count)
  assert.deepEqual(
    [...statuses.keys()].filter(status => status !== 401 && status !== 429),
    [],
  )
  const failureCounts = await api.db.row(sql`select sum(failures)::integer as failures from failure`)
  assert.deepEqual(
    failureCounts,
    { failures: 2 * rejected },
    'a failure must count once for its name and once for its address',
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lockImportType } from '../../../src/import/pipeline/import-type-lock.ts'
import { raiseAlert } from '../../../src/store/alerts/alerts.ts'
import { setBackOffice } from '../../../src/store/backoffice/connections.ts'
import { waitUntil } from '../../support/processes.ts'
import type { Caller } from '../../support/service.ts'
import type { Traffic } from './traffic.ts'

/** Tests the responses of the operations that monitor and maintain a service. */
export function testOperations(traffic: () => Traffic) {
  test('syncs and their runs match the document', async () => {
    const { api, get, post, assertRejected } = traffic()
    const caller = await api.createService()
    const settings = { driver: 'apparel21', url: 'https://127.0.0.1:9', country: 'AU' } as const
    await setBackOffice(api.db, api.keys, caller.service, settings)
    await waitUntil(
      async () => (await get('/syncs', {}, caller)).json.data.length > 5,
      'the back office setting applies',
      20_000,
    )
    const queued = await post('/syncs/stock/run', { full: true }, {}, caller)
    assert.deepEqual([queued.status, queued.json.data.isQueued], [202, true])
    assert.equal((await get('/syncs/stock/runs?limit=2', {}, caller)).status, 200)
    await assertRejected('not_found', post('/syncs/shoes/run', {}, {}, caller))
    await assertRejected('not_found', get('/syncs/shoes/runs'))
    await assertRejected('invalid_body', post('/syncs/stock/run', { full: 'yes' }, {}, caller))
  })

  test('listing and resolving alerts match the document', async () => {
    const { api, get, post, assertRejected } = traffic()
    for (const kind of ['sync_failing', 'email_server_rejecting'] as const)
      await raiseAlert(api.db, api.service.id, {
        kind,
        subject: kind === 'sync_failing' ? 'stock' : '',
        detail: '500',
      })
    const { json } = await get('/alerts?limit=1')
    assert.ok(json.meta.hasNextPage)
    await get(`/alerts?after_cursor=${json.meta.endCursor}`)
    const path = `/alerts/${json.data[0].id}/resolve`
    assert.equal((await post(path, {})).status, 200)
    await assertRejected('not_found', post(path, {}))
    await assertRejected('insufficient_role', get('/alerts', {}, await api.createAccount('visitor')))
  })

  test('imports and their limit match the document', async () => {
    const { api, checkResponse, get, post, assertRejected } = traffic()
    const send = (kind: string, type = 'text/csv', caller: Caller = api) =>
      checkResponse(
        'POST',
        `/imports?type=${kind}`,
        caller.request(`/imports?type=${kind}`, {
          method: 'POST',
          headers: { 'content-type': type },
          body: 'name\nvisa\n\u0000\n',
        }),
      )
    await assertRejected('unsupported_media_type', send('payment-gateways', 'application/json'))
    await assertRejected('invalid_parameter', send('shoes'))
    await assertRejected('invalid_parameter', send('payment-gateways&delimiter=abc'))
    const otherServices = await Promise.all([api.createService(), api.createService()])
    const releases = await Promise.all(
      otherServices.map(({ service }) => lockImportType(api.db, service, 'payment-gateways')),
    )
    const paths: [Caller, string][] = []
    try {
      for (const caller of [...otherServices, ...otherServices]) {
        const { status, headers } = await send('payment-gateways', 'text/csv', caller)
        assert.equal(status, 202)
        paths.push([caller, String(headers.location)])
      }
      await assertRejected('too_many_imports', send('payment-gateways', 'text/csv', otherServices[0]))
    } finally {
      for (const release of releases) release()
    }
    for (const [caller, path] of paths) {
      await waitUntil(async () => (await caller.get(path)).json.data.state === 'ok', 'the import has ended', 30_000)
      await get(path, {}, caller)
      await get(`${path}/rejected`, {}, caller)
      await post(`${path}/cancel`, {}, {}, caller)
    }
    await assertRejected('not_found', get('/imports/none'))
    await assertRejected('not_found', get('/imports/none/rejected'))
  })

  test('stats match their schema', async () => {
    const { json } = await traffic().get('/stats')
    assert.equal(json.data.requests.answered.length, 1_440)
    assert.equal((await traffic().get('/stats/back-office-calls')).json.data.breaker, null)
  })

  test('the request log matches the document', async () => {
    const { api, get, post, assertRejected } = traffic()
    await post(
      '/customers',
      { firstname: 'Ann', surname: 'Lee', contact: { email: 'logged@example.com' } },
      { 'x-request-id': 'logged' },
    )
    await waitUntil(async () => (await api.get('/requests/logged')).status === 200, 'the request is logged', 20_000)
    const { json } = await get('/requests/logged')
    assert.equal(json.data.audit.length, 1)
    assert.ok((await get('/requests?limit=1')).json.meta.hasNextPage)
    await get('/requests?failed=true&status=404&code=not_found&limit=2')
    await assertRejected('not_found', get('/requests/none'))
    await assertRejected('date_range_inverted', get('/requests?answered_after=2026-01-02&answered_before=2026-01-01'))
  })
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { respondWith, startReceiver } from '../../support/webhooks/receiver.ts'
import type { Traffic } from './traffic.ts'

/** Tests the responses of the webhook operations to an admin. */
export function testWebhooks(traffic: () => Traffic) {
  test('webhooks are created, tested, rotated and deleted as documented', async () => {
    const { api, get, post, put, remove, assertRejected } = traffic()
    const receiver = await startReceiver()
    const created = await post('/webhooks', { url: receiver.url, kinds: ['customer'], description: 'traffic' })
    assert.equal(created.status, 201, created.text)
    const path = String(created.headers.location)
    await post('/webhooks', { url: receiver.url, fromBeginning: true })
    assert.ok((await get('/webhooks?limit=1')).json.meta.hasNextPage)
    await get(path)
    assert.equal((await put(path, { kinds: ['store', 'customer'], description: null })).status, 200)
    assert.equal((await post(`${path}/test`, {})).json.data.status, 204)
    receiver.respond = respondWith(500, {}, 'out of order')
    assert.equal((await post(`${path}/test`, {})).json.data.response, 'out of order')
    await receiver.close()
    assert.equal((await post(`${path}/test`, {})).json.data.status, null)
    assert.equal((await get(`${path}/attempts?limit=2`)).json.data.length, 2)
    for (const action of ['pause', 'resume', 'rotate-secret'])
      assert.equal((await post(`${path}/${action}`, {})).status, 200, action)
    for (const to of ['beginning', '2026-01-01', (await get(path)).json.data.cursor])
      assert.equal((await post(`${path}/rewind`, { to })).status, 200, to)
    // The cursor belongs to the resource types before the update.
    await assertRejected('invalid_field', post(`${path}/rewind`, { to: created.json.data.cursor }))
    await assertRejected('invalid_body', post(`${path}/rewind`, {}))
    await assertRejected('invalid_field', post('/webhooks', { url: receiver.url, kinds: ['shoes'] }))
    await assertRejected('url_not_allowed', post('/webhooks', { url: 'https://10.0.0.1/hooks' }))
    await assertRejected('url_not_allowed', put(path, { url: 'ftp://shop.example/' }))
    await assertRejected('insufficient_role', get('/webhooks', {}, await api.createAccount('maintainer')))
    assert.equal((await remove(path)).status, 200)
    await assertRejected('not_found', remove(path))
    await assertRejected('not_found', get(path))
    await assertRejected('not_found', get(`${path}/attempts`))
    for (const action of ['test', 'pause', 'resume', 'rotate-secret'])
      await assertRejected('not_found', post(`${path}/${action}`, {}))
    await assertRejected('not_found', post(`${path}/rewind`, { to: 'beginning' }))
    await assertRejected('not_found', put(path, {}))
  })
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApi } from '../support/service.ts'

test('the first requests for documents do not delay other requests', async t => {
  const api = await startTestApi()
  t.after(() => api.stop())
  const documents = ['/openapi.json', '/openapi.json?samples=true', '/docs', '/docs/reference/errors', '/console']
  for (const path of [...documents, '/docs/api/viewer.js']) {
    // Opens two connections.
    await Promise.all([api.sendRaw('/health/live'), api.sendRaw('/health/live')])
    const order: string[] = []
    const send = async (sentPath: string) => {
      const { status } = await api.sendRaw(sentPath)
      order.push(`${sentPath} ${status}`)
    }
    await Promise.all([send(path), send('/health/live')])
    assert.deepEqual(order, ['/health/live 200', `${path} 200`])
  }
})

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startSimulator } from '../../../simulator/simulator.ts'
import { type Client, createClient } from '../../../src/backoffice/apparel21/client/client.ts'
import { createReleaseReader, parseRelease } from '../../../src/backoffice/apparel21/client/release.ts'
import { connectToBackOffice, settings } from '../../drivers/apparel21.ts'
import { waitUntil } from '../../support/processes.ts'
import { startTestApi } from '../../support/service.ts'
import { measure } from '../faults/fault-fixture.ts'

const simulator = await startSimulator({ sizes: { persons: 1 } })
after(() => simulator.close())

const timeZone = 'Australia/Melbourne'

test('the version is found on the root page in any markup', () => {
  const cases: [string, string | undefined][] = [
    ['<p>Retail API Release 2022.1</p>', '2022.1'],
    ['<p>Retail API Release</p><p>2023.4a</p>', '2023.4a'],
    ['<b>Retail&nbsp;API</b> release: <i>2022.10</i>', '2022.10'],
    ['<p>Retail API Release 2023.4A</p>', '2023.4a'],
    ['<p>Retail API Release</p><p>Copyright</p><p>Somebody and Somebody Else, Limited 2019.1</p>', undefined],
    ['<p>Retail API Release 22.1</p>', undefined],
    ['<html', undefined],
    ['', undefined],
  ]
  for (const [html, release] of cases) assert.deepEqual([html, parseRelease(html)], [html, release])
})

test('an unknown version counts as too old and a pinned version wins', async () => {
  let warnings = ''
  const warn = (_: object, message: string) => {
    warnings += message
  }
  const log = { info: () => {}, warn }
  const open = (pinnedRelease?: string): Client =>
    createClient({ url: simulator.url, countryCode: 'AU', timeZone, log, pinnedRelease })
  const reader = open()
  const release = createReleaseReader(reader)
  assert.deepEqual([await release.read(), await release.has('personsByChange')], ['2025.1', true])
  simulator.set({ release: '2022.10' })
  assert.equal(await createReleaseReader(reader).has('personsByChange'), true)
  simulator.set({ release: '2021.3' })
  assert.equal(await createReleaseReader(reader).has('personsByChange'), false)
  assert.equal(await release.has('personsByChange'), true, 'the reader caches the version')
  assert.equal(warnings, '')
  simulator.faults.add({ kind: 'html', status: 500 })
  const unknown = createReleaseReader(reader)
  assert.deepEqual([await unknown.read(), await unknown.has('productsByChange')], [undefined, false])
  assert.match(warnings, /release/)
  const pinned = open('2024.2')
  assert.equal(await createReleaseReader(pinned).has('personsByChange'), true)
  reader.close()
  pinned.close()
  simulator.faults.clear()
  simulator.set({ release: '2025.1' })
})

test('a known version stays in use while its page is unavailable', async () => {
  const { client, backOffice } = connectToBackOffice(simulator, {
    limits: { releaseTtlMs: 1, deadlineMs: 3_000, failureThreshold: 1_000 },
  })
  const api = await startTestApi({ settings, backOffice })
  after(async () => {
    await api.stop()
    client.close()
    simulator.faults.clear()
    simulator.set({ release: '2025.1' })
  })
  const listChanged = (headers = {}) => api.get('/customers?updated_after=2020-01-01', headers)
  const isShown = async () => (await listChanged()).json.meta.warnings === undefined
  assert.equal(await isShown(), true)
  for (const kind of ['html', 'hang'] as const) {
    simulator.faults.add({ kind })
    for (let i = 0; i < 3; i++) {
      const { response, ms } = await measure(listChanged({ prefer: 'handling=strict' }))
      assert.deepEqual([response.status, response.json.meta.warnings], [200, undefined], response.text)
      assert.ok(ms < 1_000, `${kind}: the request took ${ms} ms`)
    }
    simulator.faults.clear()
  }
  simulator.set({ release: '2021.3' })
  await waitUntil(async () => !(await isShown()), 'the new release is shown', 10_000)
})

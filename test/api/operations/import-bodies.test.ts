import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { lockImportType } from '../../../src/import/pipeline/import-type-lock.ts'
import { importAndWait, uploadFile, waitForImport } from '../../support/import-and-wait.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi } from '../../support/service.ts'

const api = await startTestApi({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
after(() => api.stop())

const send = (caller: Caller, body: string | Buffer, headers: Record<string, string> = {}, query = '') =>
  uploadFile(caller, `stores${query}`, body, headers)
const csv = 'storeId,storeNumber,name\n1,101,Collins Street\n'

test('an account can run two imports without blocking other accounts', async () => {
  const [caller, other] = [await api.createService(), await api.createService()]
  const release = await lockImportType(api.db, caller.service, 'stores', {})
  const accepted = [await send(caller, csv), await send(caller, csv)]
  try {
    for (const { status, text } of accepted) assert.equal(status, 202, text)
    assertProblem(await send(caller, csv), 'too_many_imports', api.baseUrl)
    await importAndWait(other, 'stores', csv)
  } finally {
    await release()
  }
  for (const response of accepted) await waitForImport(caller, response)
  assert.equal((await send(caller, csv)).status, 202)
})

test('the accounts of a service cannot take all import slots', async () => {
  const [caller, other] = [await api.createService(), await api.createService()]
  const colleagues = [caller, await api.createAccount('admin', caller.service)]
  const release = await lockImportType(api.db, caller.service, 'stores', {})
  const accepted = []
  try {
    for (const colleague of [...colleagues, ...colleagues]) accepted.push(await send(colleague, csv))
    assert.deepEqual(
      accepted.map(({ status }) => status),
      [202, 202, 202, 429],
    )
    await importAndWait(other, 'stores', csv)
  } finally {
    await release()
  }
  for (const upload of accepted.slice(0, 3)) await waitForImport(caller, upload)
})

test('an import uses the declared charset unless an option overrides it', async () => {
  const caller = await api.createService()
  const lodz = Buffer.from('storeId,storeNumber,name\n1,101,\xa3\xf3d\xbc\n', 'latin1')
  const importAndGetName = async (query: string, type: string) => {
    await importAndWait(caller, `stores${query}`, lodz, { 'content-type': type })
    return (await caller.get('/stores/101')).json.data.name
  }
  assert.equal(await importAndGetName('', 'text/csv; charset=iso-8859-2'), 'Łódź')
  assert.equal(await importAndGetName('?encoding=windows-1252', 'text/csv;charset="ISO-8859-2"'), '£ód¼')
  const profile = `?profile=${encodeURIComponent('{"encoding":"iso-8859-2"}')}`
  assert.equal(await importAndGetName(profile, 'text/csv; header=present; charset=windows-1252'), 'Łódź')
  assertProblem(
    await send(caller, csv, { 'content-type': 'text/csv; charset=klingon' }),
    'unsupported_media_type',
    api.baseUrl,
  )
})

test('an import body must be uncompressed or in a supported encoding', async () => {
  const caller = await api.createService()
  for (const coding of ['br', 'deflate', 'gzip, gzip'])
    assertProblem(await send(caller, csv, { 'content-encoding': coding }), 'unsupported_media_type', api.baseUrl)
  for (const [coding, body] of [
    ['identity', csv],
    ['GZIP', gzipSync(csv)],
    ['zstd', zstdCompressSync(csv)],
  ] as const)
    assert.equal((await importAndWait(caller, 'stores', body, { 'content-encoding': coding })).state, 'ok', coding)
})

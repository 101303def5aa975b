import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { lockImportType } from '../../../src/import/pipeline/import-type-lock.ts'
import { importAndWait, uploadFile, waitForImport } from '../../support/import-and-wait.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestService } from '../../support/service.ts'

const service = await startTestService({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
after(() => service.stop())

const send = (shop: Caller, body: string | Buffer, headers: Record<string, string> = {}, query = '') =>
  uploadFile(shop, `stores${query}`, body, headers)
const csv = 'storeId,storeNumber,name\n1,101,Collins Street\n'

test('an account can run two imports without blocking other accounts', async () => {
  const [shop, other] = [await service.createService(), await service.createService()]
  const letGo = await lockImportType(service.db, shop.service, 'stores', {})
  const accepted = [await send(shop, csv), await send(shop, csv)]
  try {
    for (const { status, text } of accepted) assert.equal(status, 202, text)
    assertProblem(await send(shop, csv), 'too_many_imports', service.baseUrl)
    await importAndWait(other, 'stores', csv)
  } finally {
    await letGo()
  }
  for (const response of accepted) await waitForImport(shop, response)
  assert.equal((await send(shop, csv)).status, 202)
})

test('the accounts of a service cannot take all import slots', async () => {
  const [shop, other] = [await service.createService(), await service.createService()]
  const colleagues = [shop, await service.createAccount('admin', shop.service)]
  const release = await lockImportType(service.db, shop.service, 'stores', {})
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
  for (const upload of accepted.slice(0, 3)) await waitForImport(shop, upload)
})

test('an import uses the declared charset unless an option overrides it', async () => {
  const shop = await service.createService()
  const lodz = Buffer.from('storeId,storeNumber,name\n1,101,\xa3\xf3d\xbc\n', 'latin1')
  const nameOf = async (query: string, type: string) => {
    await importAndWait(shop, `stores${query}`, lodz, { 'content-type': type })
    return (await shop.get('/stores/101')).json.data.name
  }
  assert.equal(await nameOf('', 'text/csv; charset=iso-8859-2'), 'Łódź')
  assert.equal(await nameOf('?encoding=windows-1252', 'text/csv;charset="ISO-8859-2"'), '£ód¼')
  const profile = `?profile=${encodeURIComponent('{"encoding":"iso-8859-2"}')}`
  assert.equal(await nameOf(profile, 'text/csv; header=present; charset=windows-1252'), 'Łódź')
  assertProblem(
    await send(shop, csv, { 'content-type': 'text/csv; charset=klingon' }),
    'unsupported_media_type',
    service.baseUrl,
  )
})

test('an import body must be uncompressed or in a supported encoding', async () => {
  const shop = await service.createService()
  for (const coding of ['br', 'deflate', 'gzip, gzip'])
    assertProblem(await send(shop, csv, { 'content-encoding': coding }), 'unsupported_media_type', service.baseUrl)
  for (const [coding, body] of [
    ['identity', csv],
    ['GZIP', gzipSync(csv)],
    ['zstd', zstdCompressSync(csv)],
  ] as const)
    assert.equal((await importAndWait(shop, 'stores', body, { 'content-encoding': coding })).state, 'ok', coding)
})

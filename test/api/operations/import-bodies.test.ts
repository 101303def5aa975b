import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { holdKind } from '../../../src/backoffice/rows/hold.ts'
import { isProblem } from '../../support/problem.ts'
import { until } from '../../support/processes.ts'
import { type Caller, startTestService } from '../../support/service.ts'

const service = await startTestService({ settings: { readsPerMinute: 'off', writesPerMinute: 'off' } })
after(() => service.stop())

const send = (shop: Caller, body: string | Buffer, headers: Record<string, string> = {}, query = '') =>
  shop.request(`/imports/stores${query}`, {
    method: 'POST',
    headers: Object.assign({ 'content-type': 'text/csv' }, headers),
    body,
  })
const isIn = async (shop: Caller, path: unknown) => {
  await until(async () => (await shop.get(String(path))).json.data.state !== 'running', 'it is in', 30_000)
}
const csv = 'storeId,storeNumber,name\n1,101,Collins Street\n'

test('an account has two files in work at a time, and those of others are taken beside them', async () => {
  const [shop, other] = [await service.tenant(), await service.tenant()]
  const letGo = await holdKind(service.db, shop.service, 'stores', {})
  const taken = [await send(shop, csv), await send(shop, csv)]
  try {
    for (const { status, text } of taken) assert.equal(status, 202, text)
    isProblem(await send(shop, csv), 'too_many_imports', service.baseUrl)
    const theirs = await send(other, csv)
    assert.equal(theirs.status, 202, theirs.text)
    await isIn(other, theirs.headers.location)
  } finally {
    await letGo()
  }
  for (const { headers } of taken) await isIn(shop, headers.location)
  assert.equal((await send(shop, csv)).status, 202)
})

test('the charset of a file is what it is read by, unless something else is said', async () => {
  const shop = await service.tenant()
  const lodz = Buffer.from('storeId,storeNumber,name\n1,101,\xa3\xf3d\xbc\n', 'latin1')
  const nameOf = async (query: string, type: string) => {
    const answer = await send(shop, lodz, { 'content-type': type }, query)
    assert.equal(answer.status, 202, answer.text)
    await isIn(shop, answer.headers.location)
    return (await shop.get('/stores/101')).json.data.name
  }
  assert.equal(await nameOf('', 'text/csv; charset=iso-8859-2'), 'Łódź')
  assert.equal(await nameOf('?encoding=windows-1252', 'text/csv;charset="ISO-8859-2"'), '£ód¼')
  const profile = `?profile=${encodeURIComponent('{"encoding":"iso-8859-2"}')}`
  assert.equal(await nameOf(profile, 'text/csv; header=present; charset=windows-1252'), 'Łódź')
  isProblem(
    await send(shop, csv, { 'content-type': 'text/csv; charset=klingon' }),
    'unsupported_media_type',
    service.baseUrl,
  )
})

test('a file is packed with what can be unpacked, or with nothing', async () => {
  const shop = await service.tenant()
  for (const coding of ['br', 'deflate', 'gzip, gzip'])
    isProblem(await send(shop, csv, { 'content-encoding': coding }), 'unsupported_media_type', service.baseUrl)
  for (const coding of ['identity', 'GZIP', 'zstd']) {
    const answer = await send(shop, csv, { 'content-encoding': coding })
    assert.equal(answer.status, 202, answer.text)
    await isIn(shop, answer.headers.location)
  }
})

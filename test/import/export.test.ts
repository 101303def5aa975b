import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { demoSettings } from '../../seed/shop.ts'
import { importFile } from '../../src/import/import-file.ts'
import { openSource } from '../../src/import/sources/file.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { cloneSmallDemoDatabase } from '../support/demo/demo-database.ts'
import { importAndWait } from '../support/import-and-wait.ts'
import { createDirectory, runCommand, startCommand, waitUntil } from '../support/processes.ts'
import { type Caller, startTestApi } from '../support/service.ts'
import { buildEnvironment } from './import-command.ts'

const api = await startTestApi({ database: await cloneSmallDemoDatabase() })
after(() => api.stop())
const other = await api.createService({ ...demoSettings, readsPerMinute: 'off' })
const place = createDirectory()
const environment = buildEnvironment(api, place)
const pathTo = (name: string) => join(place, name)

const runExport = ({ service }: Caller, kind: string, file: string) =>
  runCommand(['export', kind, '--service', service.name, '--out', pathTo(file)], environment)
/** Returns the lines of a bulk export, sorted. */
const readLines = async (caller: Caller, path: string) =>
  sortLines((await caller.get(path, { accept: 'application/x-ndjson' })).text)
const sortLines = (text: string) => text.split('\n').sort().join('\n')

const decompressors = { '': (bytes: Buffer) => bytes, '.gz': gunzipSync, '.zst': zstdDecompressSync }

test('exports can be imported elsewhere and are identical afterwards', async () => {
  const references = await runExport(api, 'references', 'references.ndjson')
  assert.equal(references.code, 0, references.err)
  const cache = await importFile(api.db, other.service, 'references', await openSource(pathTo('references.ndjson')))
  assert.ok(cache.inserted > 0)
  assert.deepEqual([cache.rejected, cache.inserted], [0, cache.read])
  for (const [kind, path, suffix] of [
    ['stores', '/stores', ''],
    ['staff', '/staff', '.gz'],
    ['products', '/products', '.zst'],
    ['stock', '/inventory', '.gz'],
    ['customers', '/customers/search', '.zst'],
    ['transactions', '/orders/transactions/search', ''],
  ] as const) {
    const file = `${kind}.ndjson${suffix}`
    const { code, out, err } = await runExport(api, kind, file)
    assert.deepEqual([code, out], [0, ''], err)
    const lines = sortLines(decompressors[suffix](await readFile(pathTo(file))).toString())
    assert.ok(lines === (await readLines(api, path)), `the export of ${kind} equals the API's list`)
    const rejectedFile = pathTo(`${file}.rejected.ndjson`)
    const source = await openSource(pathTo(file))
    const { rejected, read, inserted } = await importFile(api.db, other.service, kind, source, {
      rejectedPath: rejectedFile,
    })
    const reasons = rejected ? (await readFile(rejectedFile, 'utf8')).slice(0, 1_000) : ''
    assert.deepEqual([kind, reasons, inserted], [kind, '', read])
    assert.ok(lines === (await readLines(other, path)), `the imported ${kind} equal the exported ones`)
    if (kind === 'customers') continue
    const again = await importFile(api.db, other.service, kind, await openSource(pathTo(file)))
    assert.deepEqual([kind, again.inserted, again.changed], [kind, 0, 0])
  }
})

test('mappings can be exported, imported and used by the command line', async () => {
  for (const [kind, path] of [
    ['store-mapping', '/mappings/stores'],
    ['sku-mapping', '/mappings/skus'],
    ['customer-mapping', '/mappings/customers'],
  ] as const) {
    const { code, err } = await runExport(api, kind, `${kind}.ndjson.gz`)
    assert.equal(code, 0, err)
    const { read, rejected, changed } = await importFile(
      api.db,
      other.service,
      kind,
      await openSource(pathTo(`${kind}.ndjson.gz`)),
    )
    assert.ok(read > 0)
    assert.deepEqual([kind, rejected, changed], [kind, 0, 0])
    assert.equal(await readLines(other, `${path}?state=mapped`), await readLines(api, `${path}?state=mapped`))
  }
  const done = await runCommand(
    ['import', 'staff', pathTo('staff.ndjson.gz'), '--service', other.service.name],
    environment,
  )
  assert.equal(done.code, 0, done.err)
})

test('unknown reference values keep their code and name, with a remark', async () => {
  const shop = await api.createService(demoSettings)
  const references = {
    favouriteStore: { code: 'CBD', name: 'Collins; "Street"', referenceValueId: '4411' },
    interest: { code: null, name: 'Running = fun', referenceValueId: '12' },
  }
  const [record] = (await api.get('/customers/search?limit=1')).json.data
  const { ecommerceAdminId: _, ecommerceLegacyId: __, ...customer } = record
  const lines = [
    { ...customer, id: 'r1', contact: { ...customer.contact, email: null }, references },
    { id: 'r2', surname: 'Two', references: 'favouriteStore=4411;interest=99' },
    { id: 'r3', surname: 'Three', references: { interest: { code: null, name: null, referenceValueId: '12' } } },
    { id: 'r4', surname: 'Four', references: { interest: { code: 'x' } } },
    { id: 'r5', surname: 'Five', references: ['interest'] },
  ]
  const ndjson = { 'content-type': 'application/x-ndjson' }
  const file = lines.map(line => JSON.stringify(line)).join('\n')
  const first = await importAndWait(shop, 'customers', file, ndjson)
  assert.deepEqual([first.new, first.rejected], [3, 2])
  assert.deepEqual(first.notes.map(({ note, count }: Record<string, unknown>) => `${count} ${note}`).sort(), [
    '1 unknown reference value: added with its code and name',
    '1 unknown reference value: stored without code and name',
  ])
  const readReferences = async (id: string) => (await shop.get(`/customers/${id}`)).json.data.references
  assert.deepEqual(await readReferences('r1'), references)
  assert.deepEqual(await readReferences('r2'), {
    favouriteStore: references.favouriteStore,
    interest: { code: null, name: null, referenceValueId: '99' },
  })
  assert.deepEqual(await readReferences('r3'), { interest: references.interest })
  const again = await importAndWait(
    shop,
    'customers',
    lines.slice(0, 1).map(line => JSON.stringify(line))[0] ?? '',
    ndjson,
  )
  assert.deepEqual([again.unchanged, again.notes], [1, []])
  const products = (await readFile(pathTo('products.ndjson.zst')).then(zstdDecompressSync)).toString()
  const dryRun = await importAndWait(shop, 'products', products, { ...ndjson, prefer: 'tx=rollback' })
  assert.deepEqual([dryRun.dryRun, dryRun.rejected], [true, 0])
  assert.match(JSON.stringify(dryRun.notes), /unknown reference value: added with its code and name/)
  assert.equal((await importAndWait(shop, 'products', products, ndjson)).rejected, 0)
  assert.equal(
    await readLines(shop, '/products').then(removeTimes),
    await readLines(api, '/products').then(removeTimes),
  )
})
const removeTimes = (text: string) => text.replaceAll(/"updateTimeStamp":"[^"]*"/g, '')

test('a record that is not a valid row is rejected with reason', async () => {
  const [store] = (await api.get('/stores')).json.data
  const [sale] = (await api.get('/orders/transactions/search?limit=1')).json.data
  const [line] = sale.lines
  const discount = { type: 'a', reason: null, amount: '0.01', percentage: null }
  const records = [
    { ...sale, id: 'x1', currency: 'XTS' },
    { ...sale, id: 'x2', lines: [] },
    { ...sale, id: 'x3', lines: [{ ...line, discounts: [discount, discount] }] },
    { ...sale, id: 'x4', lines: [{ ...line, colour: 'red' }] },
  ]
  await writeFile(pathTo('odd.ndjson'), records.map(record => `${JSON.stringify(record)}\n`).join(''))
  const rejectedFile = pathTo('odd.rejected.ndjson')
  const { read, rejected } = await importFile(
    api.db,
    other.service,
    'transactions',
    await openSource(pathTo('odd.ndjson')),
    {
      rejectedPath: rejectedFile,
    },
  )
  assert.deepEqual([read, rejected], [4, 4])
  const text = await readFile(rejectedFile, 'utf8')
  for (const reason of [
    /must be [A-Z]{3}, the currency of the service: XTS/,
    /must have at least one line/,
    /can have at most one discount/,
    /doesn't exist/,
  ])
    assert.match(text, reason)
  assert.equal((await api.get(`/stores/${store.storeNumber}`)).status, 200)
})

test('an interrupted or killed export keeps the existing file', async () => {
  const large = await api.createService()
  const ids = Array.from({ length: 1_200 }, (_, i) => String(i))
  await upsertCustomers(
    api.db,
    large.service,
    ids.map(id => ({ id, firstname: randomBytes(7_500).toString('base64') })),
  )
  const file = pathTo('large.ndjson')
  const listDrafts = async () => (await readdir(place)).filter(name => name.endsWith('.part'))
  /** True if the signal ended the export while it wrote. False if the export was faster than the signal. */
  async function isEndedBy(signal: 'SIGINT' | 'SIGKILL') {
    await writeFile(file, 'before\n')
    const run = startCommand(['export', 'customers', '--service', large.service.name, '--out', file], environment)
    await waitUntil(
      async () => run.child.exitCode !== null || (await listDrafts()).length,
      'the export writes a draft',
      30_000,
    )
    run.child.kill(signal)
    return (await run.ended).code !== 0
  }
  for (const [signal, partCount] of [
    ['SIGINT', 0],
    ['SIGKILL', 1],
  ] as const) {
    await waitUntil(() => isEndedBy(signal), `the export is ended by ${signal}`, 60_000)
    assert.equal(await readFile(file, 'utf8'), 'before\n', signal)
    assert.equal((await listDrafts()).length, partCount, signal)
  }
  const [draft = ''] = await listDrafts()
  assert.ok(draft.startsWith(`.large.ndjson.${hostname()}.`), draft)
  // A draft of another container with the same volume must stay, because its process can still be running.
  const foreignDraft = draft.replace(`.${hostname()}.`, '.elsewhere.')
  await writeFile(pathTo(foreignDraft), '')
  assert.equal((await runExport(api, 'stores', 'large.ndjson')).code, 0)
  assert.deepEqual(await listDrafts(), [foreignDraft])
})

test('an unknown format or type is rejected with a remedy', async () => {
  const unknownFormat = await runExport(api, 'stores', 'stores.txt')
  assert.deepEqual(
    [unknownFormat.code, /must end in \.ndjson or \.jsonl/.test(unknownFormat.err)],
    [1, true],
    unknownFormat.err,
  )
  const unknown = await runExport(api, 'shoes', 'shoes.ndjson')
  assert.match(unknown.err, /Allowed choices are references, stores, staff/)
  const piped = await runCommand(['export', 'staff', '--service', api.service.name], environment)
  assert.equal(sortLines(piped.out), await readLines(api, '/staff'))
  assert.match(piped.err, /staff of .*: \d+ records?, as of \d{4}-/)
})

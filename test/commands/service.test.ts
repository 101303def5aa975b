import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { getDatabaseEnvironment } from '../support/database.ts'
import { cloneSmallDemoDatabase } from '../support/demo/demo-database.ts'
import {
  addAdmin,
  createDirectory,
  type RunningServer,
  runCommand,
  runSuccessfully,
  sendGet,
  serve,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

const database = await cloneSmallDemoDatabase()
const { db } = database
const environment = {
  DATA_DIR: join(createDirectory(), 'data'),
  ...getDatabaseEnvironment(database),
  SECRET_KEY: database.secret,
}
let server: RunningServer
let demo: Awaited<ReturnType<typeof addAdmin>>

before(async () => {
  server = await serve([], environment)
  demo = await addAdmin(environment, 'demo')
})
after(async () => {
  if (server) await stopServer(server)
  await database.drop()
})

/** Returns the `asOf` of a list, the change timestamps, and the records without them. */
async function readList(path: string) {
  const { status, json } = await sendGet(server, path, demo)
  assert.equal(status, 200)
  const timestamps = json.data.map((record: { updateTimeStamp: string }) => record.updateTimeStamp)
  const records = json.data.map(({ updateTimeStamp: _, ...record }: { updateTimeStamp: string }) => record)
  return { asOf: json.meta.asOf as string, timestamps: timestamps as string[], records }
}

/** Waits until the running server returns another list. Returns it. */
async function waitForChange(path: string, original: unknown, part: 'timestamps' | 'records') {
  await waitUntil(
    async () => JSON.stringify((await readList(path))[part]) !== JSON.stringify(original),
    `${path} has changed`,
    20_000,
  )
  return readList(path)
}

/** Returns the settings of a service in `service list`, which leaves out defaults. */
async function listSettings(name: string) {
  const [headings, , ...rows] = (await runSuccessfully(['service', 'list'], environment)).trim().split('\n')
  assert.deepEqual(headings?.split(/ {2,}/), ['service', 'setting', 'value'])
  return rows.map(row => row.split(/ {2,}/)).flatMap(([serviceName, ...shown]) => (serviceName === name ? [shown] : []))
}

test('service add accepts settings and list shows non-default ones', async () => {
  const output = await runSuccessfully(
    [
      'service',
      'add',
      'luma',
      'currency=AUD',
      'timeZone=Australia/Melbourne',
      'backOfficeVersion=2025.1',
      'gateways=visa',
    ],
    environment,
  )
  assert.match(output, /^Service luma created\. Next: tillbridge account add <username> --service luma$/m)
  assert.deepEqual(await listSettings('luma'), [
    ['timeZone', 'Australia/Melbourne'],
    ['currency', 'AUD'],
    ['gateways', '["visa"]'],
  ])
  await runSuccessfully(['service', 'add', 'plain'], environment)
  assert.deepEqual(await listSettings('plain'), [['all defaults']])
})

test('service set accepts every setting, and default resets it', async () => {
  const mapping = '{"email":{"type":"newsletter","yes":"1","no":"2"}}'
  const input = [
    ...[
      'retailerName=Luma & Söhne',
      'timeZone=Europe/Berlin',
      'currency=EUR',
      'inventoryBuffer=3',
      'fulfilment=manual',
    ],
    ...['returnReasons=[{"code":"SMALL","name":"Too small"}]', 'vouchersEnabled=true', 'giftCardSku=GIFTCARD'],
    ...[
      'voucherType=DIGITAL',
      'voucherValidityMonths=24',
      'requireFullRedemption=true',
      'emailSender=gifts@luma.example',
    ],
    ...[`subscriptionMapping=${mapping}`, 'referenceTypes=["favouriteStore","newsletter"]', 'backOfficeVersion=2022.1'],
    ...['requireIfMatch=true', 'requireIdempotencyKey=true', 'readsPerMinute=off', 'writesPerMinute=500'],
    'gateways=["paypal","visa"]',
  ]
  await runSuccessfully(['service', 'add', 'full'], environment)
  const unknown = await runCommand(['service', 'set', 'full', `subscriptionMapping=${mapping}`], environment)
  assert.deepEqual([unknown.code, unknown.out], [1, ''])
  assert.match(unknown.err, /Reference type newsletter not found\. Import or sync the references first\./)
  const file = join(environment.DATA_DIR, 'references.csv')
  await writeFile(file, 'type,referenceValueId,name\nnewsletter,1,Yes\nnewsletter,2,No\n')
  await runSuccessfully(['import', 'references', file, '--service', 'full'], environment)
  const { code, err } = await runCommand(['service', 'set', 'full', 'defaultReturnReason=BORED'], environment)
  assert.equal(code, 1)
  assert.match(err, /`defaultReturnReason` must be a code of `returnReasons`, or null; BORED isn't one\./)
  const output = await runSuccessfully(['service', 'set', 'full', ...input], environment)
  const names = input.map(assignment => assignment.split('=')[0] ?? '')
  assert.deepEqual(
    output
      .replaceAll(' = ', '=')
      .replace(mapping, '')
      .trim()
      .split('\n')
      .map(line => line.split('=')[0]),
    names,
  )
  const shown = await runSuccessfully(['service', 'show', 'full'], environment)
  for (const entry of input.filter(assignment => !assignment.startsWith('subscriptionMapping')))
    assert.ok(shown.includes(`${entry.replace('=', ' = ')}\n    `), entry)
  assert.match(
    shown,
    /^subscriptionMapping = \{"email":\{.*"type":"newsletter".*\}\}\n {4}The customer reference of each subscription.*Default: \{\}\.$/m,
  )
  assert.equal(
    await runSuccessfully(['service', 'set', 'full', 'gateways=cash, visa'], environment),
    'gateways = ["cash","visa"]\n',
  )

  const reset = await runSuccessfully(
    ['service', 'set', 'full', 'giftCardSku=default', 'gateways=default'],
    environment,
  )
  assert.equal(reset, 'giftCardSku = none\ngateways = []\n')
  await runSuccessfully(['service', 'set', 'full', ...names.map(name => `${name}=default`)], environment)
  assert.deepEqual(await listSettings('full'), [['all defaults']])
})

test('a change by command appears in the audit log', async () => {
  await runSuccessfully(['service', 'add', 'audited', 'currency=AUD'], environment)
  await runSuccessfully(['service', 'set', 'audited', 'gateways=visa', 'timeZone=Asia/Kolkata'], environment)
  await runCommand(['service', 'set', 'audited', 'currency=AUX'], environment)
  const { rows } = await db.pool.query(
    "select record::json as line from audit join service using (service_id) where name = 'audited' order by changed_at",
  )
  assert.deepEqual(
    rows.map(({ line: { username, operation, subject, fields } }) => [username, operation, subject, fields]),
    [
      ['tillbridge (command line)', 'service add', '/settings', ['currency']],
      ['tillbridge (command line)', 'service set', '/settings', ['gateways', 'timeZone']],
    ],
  )
  assert.match(rows[1].line.requestId, /^[\w-]{36}$/)
})

test('doctor reports missing settings of each service and their purpose', async () => {
  const { out } = await runCommand(['doctor'], environment)
  assert.match(
    out,
    /^PASS {2}Back office {2}.*\n( {19}.*\n)* {19}plain: embedded 2025\.1, without\n( {21}.*\n)* {21}vouchersIssue: .*vouchersEnabled/m,
  )
  const demoLines =
    /^(?: {19}|PASS {2}Back office {2})demo: embedded 2025\.1, without\n((?: {21}.*\n)*)/m.exec(out)?.[1] ?? ''
  const missingCapabilities = demoLines.match(/^ {21}\w+/gm)?.map(name => name.trim())
  // The demo has every setting. The embedded back office itself lacks these.
  assert.deepEqual(missingCapabilities, ['freightOptions', 'coupons', 'liveStock', 'priceChanges'])
})

test('a taken service name is rejected', async () => {
  const { code, err } = await runCommand(['service', 'add', 'luma'], environment)
  assert.equal(code, 1)
  assert.equal(err, 'tillbridge: Service luma exists already.\n')
})

test('all invalid settings are reported at once without a change', async () => {
  const invalidAssignments = [
    'currency=AUX',
    'timeZone=Australia/Melborne',
    'inventoryBuffer=-1',
    'backOfficeVersion=new',
    'readsPerMinute=0',
    'colour=red',
    'nothing',
    'retailerName=',
    'emailSender=gifts',
    'vouchersEnabled=yes',
    'fulfilment=later',
    'returnReasons=[{"code":"A","name":"Any"},{"code":"A","name":"Any"}]',
    'subscriptionMapping={"email":{"type":"newsletter","yes":"1"}}',
    'gateways=visa,visa',
    'backOfficeVersion=2022.1',
  ]
  for (const args of [
    ['service', 'add', 'bad'],
    ['service', 'set', 'luma'],
  ]) {
    const { code, out, err } = await runCommand([...args, 'currency=NZD', ...invalidAssignments], environment)
    assert.equal(code, 1)
    assert.equal(out, '')
    const lines = err.replace('tillbridge: ', '').trimEnd().split('\n')
    assert.equal(lines.length, invalidAssignments.length, err)
    for (const [i, assignment] of invalidAssignments.entries())
      assert.ok(lines[i]?.includes(assignment.split('=')[0] ?? ''), err)
    assert.match(err, /^inventoryBuffer: .* Example: inventoryBuffer=1$/m)
    assert.match(err, /^subscriptionMapping.email.no: .* Example: 'subscriptionMapping=\{"email":\{"type":.*\}\}'$/m)
    assert.match(err, /^gateways.1: .* Example: gateways=paypal,shopify,visa$/m)
    assert.match(err, /^backOfficeVersion can't be set twice\.$/m)
  }
  const output = await runSuccessfully(['service', 'list'], environment)
  assert.doesNotMatch(output, /^bad |NZD/m)
})

test('an unknown service error lists the existing services', async () => {
  const { code, err } = await runCommand(['service', 'set', 'lumo', 'currency=NZD'], environment)
  assert.equal(code, 1)
  assert.equal(err, 'tillbridge: Service lumo not found. Services: audited, demo, full, luma, plain.\n')
})

test('every accepted time zone exists in the database', async () => {
  const zoneNames = new Set((await db.pool.query('select name from pg_timezone_names')).rows.map(row => row.name))
  assert.deepEqual(
    Intl.supportedValuesOf('timeZone').filter(zone => !zoneNames.has(zone)),
    [],
  )
})

test('a new time zone changes wall-clock times but neither order nor asOf', async () => {
  const paths = ['/customers/search', '/products', '/inventory', '/orders/transactions/search'].map(
    path => `${path}?limit=5`,
  )
  const original = await Promise.all(paths.map(path => readList(path)))
  assert.equal(
    await runSuccessfully(['service', 'set', 'demo', 'timeZone=Asia/Kolkata'], environment),
    'timeZone = Asia/Kolkata\n',
  )
  const changed = await Promise.all(paths.map((path, i) => waitForChange(path, original[i]?.timestamps, 'timestamps')))
  const toKolkataTime = (timestamp = '') => {
    // Melbourne was at +11:00, and Kolkata is at +05:30.
    const instant = new Date(`${timestamp.replace(' ', 'T')}+11:00`)
    return new Date(instant.getTime() + 5.5 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')
  }
  for (const [i, { asOf, timestamps, records }] of changed.entries()) {
    assert.equal(asOf, original[i]?.asOf)
    assert.deepEqual(records, original[i]?.records)
    assert.deepEqual(
      timestamps,
      original[i]?.timestamps.map(timestamp => toKolkataTime(timestamp)),
      `${paths[i]}`,
    )
  }
})

test('a new buffer or currency changes the affected records', async () => {
  const stores = (await sendGet(server, '/stores?limit=100', demo)).json.data
  const store = stores.find((candidate: { inventoryBuffer: number | null }) => candidate.inventoryBuffer === null)
  const [stock, products] = [`/inventory?store_number=${store.storeNumber}&limit=100`, '/products?limit=3']
  const [stockBefore, productsBefore] = [await readList(stock), await readList(products)]
  await runSuccessfully(['service', 'set', 'demo', 'inventoryBuffer=3'], environment)
  const stockAfter = await waitForChange(stock, stockBefore.records, 'records')
  for (const record of stockAfter.records) assert.equal(record.sellable, Math.max(0, record.freeStock - record.buffer))
  assert.ok(stockAfter.records.some((record: { buffer: number }) => record.buffer === 3))
  assert.ok(stockAfter.asOf > stockBefore.asOf)
  const rejected = await runCommand(['service', 'set', 'demo', 'currency=JPY'], environment)
  assert.deepEqual([rejected.code, rejected.out], [1, ''])
  assert.match(rejected.err, /has products, sales, vouchers.*To change it, run the command again with --yes\./)
  const changed = await runCommand(['service', 'set', 'demo', 'currency=JPY', '--yes'], environment)
  assert.deepEqual([changed.code, changed.out], [0, 'currency = JPY\n'])
  assert.match(changed.err, /No amount is converted/)
  const productsAfter = await waitForChange(products, productsBefore.records, 'records')
  for (const record of productsAfter.records) {
    assert.equal(record.currency, 'JPY')
    assert.match(record.colours[0].sizes[0].price, /^\d+$/)
  }
  assert.ok(productsAfter.asOf > productsBefore.asOf)
})

test('other settings take effect in the running server', async () => {
  await runSuccessfully(['service', 'set', 'demo', 'readsPerMinute=1'], environment)
  await waitUntil(async () => (await sendGet(server, '/stores', demo)).status === 429, 'the limit takes effect', 20_000)
  await runSuccessfully(['service', 'set', 'demo', 'readsPerMinute=off'], environment)
  await waitUntil(async () => (await sendGet(server, '/stores', demo)).status === 200, 'the limit is off', 20_000)
})

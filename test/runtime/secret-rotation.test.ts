import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import {
  createDirectory,
  createServiceAccess,
  type RunningServer,
  runCommand,
  runSuccessfully,
  sendGet,
  serve,
  stopServer,
} from '../support/processes.ts'

const [oldSecret, newSecret] = ['o'.repeat(32), 'n'.repeat(32)]
const bothSecrets = `${newSecret},${oldSecret}`
let database: TestDatabase
let settings: { DATA_DIR: string; DATABASE_URL: string }
let access: Awaited<ReturnType<typeof createServiceAccess>>

before(async () => {
  database = await createTestDatabase()
  settings = { DATA_DIR: join(createDirectory(), 'data'), DATABASE_URL: database.connection }
  access = await createServiceAccess({ ...settings, SECRET_KEY: oldSecret })
})
after(() => database.drop())

const run = (args: string[], SECRET_KEY: string) => runSuccessfully(args, { ...settings, SECRET_KEY })

async function post({ baseUrl, caFile = '' }: RunningServer, path: string, body: object, key: string) {
  const { username, password, serviceName } = access
  const { request } = await import('node:https')
  return new Promise<{ status: number; json: Record<string, string> }>((resolve, reject) => {
    const clientRequest = request(
      `${baseUrl}${path}`,
      {
        method: 'POST',
        ca: fs.readFileSync(caFile),
        auth: `${username}:${password}`,
        headers: { 'x-service-name': serviceName, 'content-type': 'application/json', 'idempotency-key': key },
      },
      response => {
        let text = ''
        response.setEncoding('utf8').on('data', part => {
          text += part
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, json: text ? JSON.parse(text) : {} }))
      },
    )
    clientRequest.on('error', reject).end(JSON.stringify(body))
  })
}

const customer = { firstname: 'Ann', surname: 'Lee', contact: { email: 'ann@example.com' } }
const voucher = { number: '7700000001', pin: '123456' }
const validate = (server: RunningServer, key: string) =>
  post(server, '/vouchers/validate', { ...voucher, amount: '1.00' }, key)

async function readKeyIds() {
  const { rows } = await database.db.pool.query<{ password: string; pin: string; response: string }>(`
    select encode(substring(max(password_hash) from 1 for 4), 'hex') as password,
           (select encode(substring(pin_hash from 1 for 4), 'hex') from voucher) as pin,
           (select string_agg(distinct encode(substring(response from 1 for 4), 'hex'), ',') from idempotent_response) as response
      from account_password`)
  return rows[0] ?? assert.fail()
}

test('a rotation next to serving processes keeps passwords, PINs, keys and cursors', async () => {
  const file = join(createDirectory(), 'vouchers.csv')
  fs.writeFileSync(file, `number,pin,originalAmount,balance\n${voucher.number},${voucher.pin},50.00,50.00\n`)
  await run(['import', 'vouchers', file, '--service', 'luma'], oldSecret)
  const keyOutput = await run(['account', 'key', 'add', access.username, 'web-1'], oldSecret)
  const keyCredentials = { ...access, password: /^Key: (\S+)$/m.exec(keyOutput)?.[1] ?? '' }
  const first = await serve(['--no-demo'], { ...settings, SECRET_KEY: oldSecret })
  const created = await post(first, '/customers', customer, 'key-1')
  assert.equal(created.status, 201)
  assert.ok(created.json.data)
  await post(first, '/customers', { ...customer, contact: { email: 'bea@example.com' } }, 'key-2')
  const page = await sendGet(first, '/customers/search?limit=1', access)
  const cursor = page.json.meta.endCursor
  const keyIdsBefore = await readKeyIds()

  // A process with both secrets encrypts with the old one, so the first process can read everything.
  const second = await serve(['--no-demo'], { ...settings, SECRET_KEY: bothSecrets })
  for (const server of [first, second]) {
    const replayed = await post(server, '/customers', customer, 'key-1')
    assert.deepEqual(replayed, created)
  }
  await stopServer(first)

  for (const FAILPOINT of ['secret_rotation_begun', 'secret_value_reencrypted']) {
    const killed = await runCommand(['secret', 'rotate'], { ...settings, SECRET_KEY: bothSecrets, FAILPOINT })
    assert.equal(killed.signal, 'SIGKILL', killed.err)
  }
  assert.match((await readKeyIds()).response, /,/, 'one of two values must be encrypted before the kill')
  const withoutOldSecret = await runCommand(['account', 'list'], { ...settings, SECRET_KEY: newSecret })
  assert.match(
    withoutOldSecret.err,
    /SECRET_KEY must also contain the previous secret, after a comma, until "tillbridge secret rotate"/,
  )
  assert.match(
    await run(['secret', 'rotate'], bothSecrets),
    /^1 value encrypted with the new secret key\.\nPasswords and API keys \(2\) and voucher PINs \(1\) change to it at their next use\.\nRotation not completed\./,
  )

  const { out: checked } = await runCommand(['doctor'], { ...settings, SECRET_KEY: bothSecrets })
  assert.match(
    checked,
    /WARN {2}Secret .*unfinished: encrypted values \(0\), passwords and API keys \(2\) and voucher PINs \(1\)/,
  )

  // The second process started before the rotation, the third one after it.
  const third = await serve(['--no-demo'], { ...settings, SECRET_KEY: bothSecrets })
  for (const server of [second, third]) {
    const replayed = await post(server, '/customers', customer, 'key-1')
    assert.deepEqual(replayed, created)
    const nextPage = await sendGet(server, `/customers/search?limit=5&after_cursor=${cursor}`, access)
    assert.deepEqual([nextPage.status, nextPage.json.data.length], [200, 1])
  }
  assert.equal((await validate(second, 'pin-1')).status, 200)
  assert.equal(
    (await readKeyIds()).pin,
    keyIdsBefore.pin,
    'a process that started before the rotation must not replace hashes',
  )
  assert.equal((await sendGet(third, '/stores', keyCredentials)).status, 200)
  assert.equal((await validate(third, 'pin-2')).status, 200)
  assert.equal((await validate(second, 'pin-3')).status, 200)
  const keyIdsAfter = await readKeyIds()
  assert.notEqual(keyIdsAfter.pin, keyIdsBefore.pin)
  assert.notEqual(keyIdsAfter.password, keyIdsBefore.password)
  await stopServer(second)

  assert.match(
    await run(['secret', 'rotate'], bothSecrets),
    /Rotation completed\. Remove the previous secret key from SECRET_KEY\.\n$/,
  )
  await stopServer(third)
  const fourth = await serve(['--no-demo'], { ...settings, SECRET_KEY: newSecret })
  assert.deepEqual(await post(fourth, '/customers', customer, 'key-1'), created)
  assert.equal((await sendGet(fourth, `/customers/search?limit=5&after_cursor=${cursor}`, access)).status, 200)
  assert.equal((await validate(fourth, 'pin-4')).status, 200)
  assert.equal((await sendGet(fourth, '/stores', keyCredentials)).status, 200)
  await stopServer(fourth)
  const withOldSecret = await runCommand(['account', 'list'], { ...settings, SECRET_KEY: oldSecret })
  assert.match(withOldSecret.err, /SECRET_KEY is not the secret that this database was first started with/)
})

test('a rotation needs both keys and includes shards', async t => {
  const east = await createTestDatabase()
  t.after(() => east.drop())
  const url = join(createDirectory(), 'east.url')
  fs.writeFileSync(url, east.connection)
  await run(['shard', 'add', 'east', '--url-file', url], newSecret)
  const { code, err } = await runCommand(['secret', 'rotate'], { ...settings, SECRET_KEY: newSecret })
  assert.equal(code, 1)
  assert.match(err, /SECRET_KEY must contain the new secret and the previous one, separated by a comma\./)
  const third = 't'.repeat(32)
  assert.match(await run(['secret', 'rotate'], `${third},${newSecret}`), /Rotation started\. Restart every process/)
  assert.match(await run(['secret', 'rotate'], `${third},${newSecret}`), /Rotation not completed\./)
  assert.match(await run(['secret', 'rotate', '--force'], `${third},${newSecret}`), /Rotation completed\./)
  assert.match(await run(['service', 'list'], third), /^luma /m)
  await run(['service', 'add', 'far', '--shard', 'east'], third)
})

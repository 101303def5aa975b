import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { signHeaders } from '../../src/webhooks/signature.ts'
import { createEmptyDatabase, createTestDatabase } from '../support/database.ts'
import {
  createDirectory,
  createServiceAccess,
  findPassword,
  runCommand,
  runSuccessfully,
  sendGet,
  serve,
  stopServer,
  waitUntil,
} from '../support/processes.ts'
import { startReceiver } from '../support/webhooks/receiver.ts'

test('a secret reset restores shards, and webhooks resume after rotation', async t => {
  const [control, east, receiver] = [await createTestDatabase(), await createEmptyDatabase(), await startReceiver()]
  t.after(() => Promise.all([control.drop(), east.drop(), receiver.close()]))
  const home = createDirectory()
  const oldEnvironment = {
    DATA_DIR: join(home, 'data'),
    DATABASE_URL: control.connection,
    SECRET_KEY: 'lost'.repeat(8),
    WEBHOOK_NETWORKS: '127.0.0.0/8',
  }
  const addShard = ['shard', 'add', 'east', '--url-file', join(home, 'east.url')]
  writeFileSync(join(home, 'east.url'), `${east.connection}\n`)
  await runSuccessfully(addShard, oldEnvironment)
  await runSuccessfully(['service', 'add', 'luma', '--shard', 'east'], oldEnvironment)
  const output = await runSuccessfully(['webhook', 'add', receiver.url, '--kinds', 'store'], oldEnvironment)
  const [, id = ''] = /^Webhook (\S+) created/.exec(output) ?? []

  const newEnvironment = { ...oldEnvironment, SECRET_KEY: 'kept'.repeat(8) }
  const resetSecret = ['secret', 'reset', '--yes']
  const rejectedReset = await runCommand(resetSecret, oldEnvironment)
  assert.deepEqual(
    [rejectedReset.code, rejectedReset.err],
    [1, "tillbridge: The current secret key is the right one, so it can't be reset.\n"],
  )
  for (const { connection } of [control, east])
    await runSuccessfully(resetSecret, { ...newEnvironment, DATABASE_URL: connection })
  const { code, out } = await runCommand(['shard', 'list'], newEnvironment)
  assert.equal(code, 1)
  assert.match(out, /encrypted with another SECRET_KEY\. Enter it again: tillbridge shard add east/)
  assert.match(await runSuccessfully(addShard, newEnvironment), /^Shard east registered \(1 service\)\./)

  const { err } = await runCommand(['webhook', 'test', id], newEnvironment)
  assert.match(
    err,
    /^tillbridge: The webhook's secret was encrypted with another SECRET_KEY, .* Rotate the secret\.\n$/,
  )
  assert.equal(receiver.received.length, 0)
  const [, secret = ''] =
    /^Secret: (\S+)$/m.exec(await runSuccessfully(['webhook', 'rotate', id], newEnvironment)) ?? []
  await runSuccessfully(['webhook', 'rewind', id, 'beginning'], newEnvironment)
  await runSuccessfully(['webhook', 'resume', id], newEnvironment)
  const server = await serve(['--no-demo'], newEnvironment)
  t.after(() => stopServer(server))
  writeFileSync(join(home, 'stores.csv'), 'storeId,storeNumber,name\n1,101,Collins Street\n')
  await runSuccessfully(['import', 'stores', join(home, 'stores.csv')], newEnvironment)
  await waitUntil(() => receiver.received.length > 0, 'the change is delivered', 30_000)
  const [received] = receiver.received
  assert.ok(received)
  const {
    'webhook-id': delivery = '',
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  } = received.headers
  const signed = { id: String(delivery), timestamp: Number(timestamp), body: received.body }
  assert.equal(signature, signHeaders([secret], signed)['webhook-signature'])
})

test('the bundled PostgreSQL accepts a new secret if no process runs', async () => {
  const environment = { DATA_DIR: join(createDirectory(), 'data') }
  const access = await createServiceAccess(environment)
  const running = await serve(['--no-demo'], environment)
  rmSync(join(environment.DATA_DIR, 'secret'))
  const rejectedReset = await runCommand(['secret', 'reset', '--yes'], environment)
  assert.deepEqual(
    [rejectedReset.code, rejectedReset.err],
    [1, 'tillbridge: The database is in use. Stop every process first.\n'],
  )
  await stopServer(running)

  const rejected = await runCommand(['start'], environment)
  assert.match(rejected.err, /If it is lost permanently, run "tillbridge secret reset"\.\n$/)
  const unconfirmed = await runCommand(['secret', 'reset'], environment)
  assert.equal(unconfirmed.code, 1)
  assert.match(
    unconfirmed.err,
    /^Passwords, .* in this database will be permanently lost\..*\n.*type reset: tillbridge: Not confirmed\. The secret key was not reset\.\n$/,
  )
  assert.match((await runCommand(['start'], environment)).err, /tillbridge secret reset/)

  assert.match(await runSuccessfully(['secret', 'reset', '--yes'], environment), /^Secret key reset\./)
  const server = await serve(['--no-demo'], environment)
  assert.equal((await sendGet(server, '/stores', access)).status, 401)
  const password = findPassword(await runSuccessfully(['account', 'rotate', access.username], environment))
  assert.equal((await sendGet(server, '/stores', { ...access, password })).status, 200)
  await stopServer(server)
})

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { sql } from '../../src/database/db.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { listServices } from '../../src/store/tenancy/services.ts'
import { getDatabaseEnvironment } from '../support/database.ts'
import { cloneSmallDemoDatabase } from '../support/demo/demo-database.ts'
import {
  createDirectory,
  type RunningServer,
  runCommand,
  runSuccessfully,
  serve,
  startCommand,
  stopServer,
  waitUntil,
} from '../support/processes.ts'
import {
  getSignatureHeaders,
  parseChanges,
  type Receiver,
  respondWith,
  startReceiver,
} from '../support/webhooks/receiver.ts'

const database = await cloneSmallDemoDatabase()
const environment = {
  DATA_DIR: join(createDirectory(), 'data'),
  ...getDatabaseEnvironment(database),
  SECRET_KEY: database.secret,
  WEBHOOK_NETWORKS: '127.0.0.0/8',
}
let server: RunningServer | undefined
let receiver: Receiver
before(async () => {
  receiver = await startReceiver()
  server = await serve([], environment)
})
after(async () => {
  if (server) await stopServer(server)
  await receiver?.close()
  await database.drop()
})

const findSecret = (output: string) => /^Secret: (whsec_\S+)$/m.exec(output)?.[1] ?? ''
const findId = (output: string) => /^Webhook (\S+) created/m.exec(output)?.[1] ?? ''

test('a webhook is added, tested, paused, resumed, rewound, rotated and removed', async () => {
  const added = await runSuccessfully(
    ['webhook', 'add', receiver.url, '--kinds', 'store', '--description', 'A search'],
    environment,
  )
  const [id, secret] = [findId(added), findSecret(added)]
  assert.match(
    await runSuccessfully(['webhook', 'list'], environment),
    new RegExp(`^${id} +${receiver.url} +store +active +up to date`, 'm'),
  )
  assert.match(
    await runSuccessfully(['webhook', 'test', id], environment),
    /^The endpoint returned 204 within \d+ ms\.\n$/,
  )
  const [testDelivery] = receiver.received.splice(0)
  assert.ok(testDelivery)
  new Webhook(secret).verify(testDelivery.body, getSignatureHeaders(testDelivery))

  assert.equal(await runSuccessfully(['webhook', 'pause', id], environment), `Webhook ${id} paused.\n`)
  assert.match(await runSuccessfully(['webhook', 'show', id], environment), /^state +paused$/m)
  assert.equal(
    await runSuccessfully(['webhook', 'rewind', id, 'beginning'], environment),
    `Webhook ${id} replays changes from beginning.\n`,
  )
  assert.equal(receiver.received.length, 0)
  const rotated = findSecret(await runSuccessfully(['webhook', 'rotate', id], environment))
  assert.equal(await runSuccessfully(['webhook', 'resume', id], environment), `Webhook ${id} resumed.\n`)
  await waitUntil(() => receiver.received.length, 'all changes are delivered')
  const [first] = receiver.received
  assert.ok(first)
  for (const key of [secret, rotated]) new Webhook(key).verify(first.body, getSignatureHeaders(first))
  await waitUntil(
    async () => /up to date/.test(await runSuccessfully(['webhook', 'list'], environment)),
    'the webhook has caught up',
  )
  assert.match(await runSuccessfully(['webhook', 'attempts', id], environment), / accepted$/m)

  receiver.respond = respondWith(503)
  const { code, err } = await runCommand(['webhook', 'test', id], environment)
  assert.deepEqual([code, err], [1, 'tillbridge: The endpoint returned 503.\n'])
  receiver.respond = respondWith(400, {}, 'wrong\n\u001b[31m signature')
  const failure = 'The endpoint returned 400. Its response: wrong [31m signature'
  assert.equal((await runCommand(['webhook', 'test', id], environment)).err, `tillbridge: ${failure}\n`)
  assert.ok((await runSuccessfully(['webhook', 'attempts', id], environment)).includes(`  ${failure}\n`))
  assert.equal(await runSuccessfully(['webhook', 'remove', id], environment), `Webhook ${id} deleted.\n`)
  assert.equal(
    (await runCommand(['webhook', 'show', id], environment)).err,
    `tillbridge: Webhook ${id} not found. Run "tillbridge webhook list".\n`,
  )
  receiver.respond = respondWith(204)
  receiver.received.length = 0
})

test('impossible requests are rejected with a message', async () => {
  const runRejectedAdd = async (args: string[]) => (await runCommand(['webhook', 'add', ...args], environment)).err
  assert.match(
    await runRejectedAdd(['https://10.0.0.1/hooks']),
    /^tillbridge: `url` must have a host with a public address, or one in `WEBHOOK_NETWORKS`\.\n$/,
  )
  assert.match(
    await runRejectedAdd(['http://8.8.8.8/hooks']),
    /^tillbridge: `url` must begin with `https:\/\/`, unless its host is in `WEBHOOK_NETWORKS`\.\n$/,
  )
  assert.match(
    await runRejectedAdd([receiver.url, '--kinds', 'shoes']),
    /^tillbridge: Record type shoes not found\. Types: store, /,
  )
  for (const [description, problem] of [
    ['a\nb', "can't contain a line break (character 2)"],
    ['\u001b[31mred', "can't contain the control character U+001B (character 1)"],
    ['a'.repeat(251), 'can have at most 250 characters; it has 251'],
  ] as const)
    assert.equal(
      await runRejectedAdd([receiver.url, '--description', description]),
      `tillbridge: \`description\` ${problem}.\n`,
    )
  assert.match(
    await runRejectedAdd([`${receiver.url}?${'a'.repeat(2_000)}`, '--kinds', 'store,store']),
    /^tillbridge: `url` can have at most 2000 characters; it has \d+\. .* the same entry twice\.\n$/,
  )
})

test('an empty description means none', async () => {
  const id = findId(
    await runSuccessfully(['webhook', 'add', receiver.url, '--kinds', 'store', '--description', ''], environment),
  )
  assert.match(await runSuccessfully(['webhook', 'show', id], environment), /^description +null$/m)
  await runSuccessfully(['webhook', 'remove', id], environment)
})

test('the list contains every webhook', async () => {
  const id = findId(await runSuccessfully(['webhook', 'add', receiver.url], environment))
  await runSuccessfully(['webhook', 'pause', id], environment)
  const { db } = database
  const columns = sql`url, kinds, description, state, cursor, secret`
  await db.run(sql`
    insert into webhook (service_id, webhook_id, ${columns})
    select service_id, 'copy-' || n, ${columns} from webhook, generate_series(1, 600) n where webhook_id = ${id}`)
  const listed = await runSuccessfully(['webhook', 'list'], environment)
  assert.equal(listed.match(/ paused /g)?.length, 601)
  await db.run(sql`delete from webhook`)
})

test('listen posts signed deliveries to a local machine and prints each', async () => {
  const listen = ['listen', '--forward', receiver.url, '--kinds', 'store', '--from-beginning']
  const listener = startCommand(listen, environment)
  await waitUntil(() => parseChanges(receiver.received).length, `deliveries: ${listener.err}`, 20_000)
  const [first] = receiver.received
  assert.ok(first)
  new Webhook(findSecret(listener.out)).verify(first.body, getSignatureHeaders(first))
  await waitUntil(() => /^ {2}store \S+ changed$/m.test(listener.out), 'the change is printed')
  listener.child.kill('SIGINT')
  assert.equal((await listener.ended).code, 130, listener.err)

  const secretFile = join(createDirectory(), 'secret')
  await writeFile(secretFile, `${findSecret(listener.out)}\n`)
  const receivedCount = receiver.received.length
  const secondListener = startCommand([...listen, '--secret-file', secretFile], environment)
  await waitUntil(() => receiver.received.length > receivedCount, `a delivery: ${secondListener.err}`, 20_000)
  const next = receiver.received[receivedCount]
  assert.ok(next)
  new Webhook(findSecret(listener.out)).verify(next.body, getSignatureHeaders(next))
  assert.doesNotMatch(secondListener.out, /whsec_/)
  secondListener.child.kill('SIGINT')
  await secondListener.ended
})

test('listen prints changes without forwarding them', async () => {
  receiver.received.length = 0
  const listener = startCommand(['listen', '--kinds', 'store', '--from-beginning'], environment)
  await waitUntil(() => /^ {2}store \S+ changed$/m.test(listener.out), `a change: ${listener.err}`, 20_000)
  assert.doesNotMatch(listener.out, /whsec_/)
  listener.child.kill('SIGINT')
  assert.equal((await listener.ended).code, 130, listener.err)
  assert.equal(receiver.received.length, 0)
})

test('listen signs only with a valid Standard Webhooks secret', async () => {
  receiver.received.length = 0
  const toBase64 = (count: number) => Buffer.alloc(count, 7).toString('base64')
  for (const secret of [
    toBase64(32),
    'a long passphrase that a person made up',
    `whsec_${toBase64(23)}`,
    `whsec_${toBase64(65)}`,
    `whsec_${toBase64(32).replace('B', '*')}`,
  ]) {
    const listen = ['listen', '--forward', receiver.url, '--from-beginning', '--secret', secret]
    const { code, out, err } = await runCommand(listen, environment)
    assert.deepEqual([code, out], [1, ''], secret)
    assert.equal(err, 'tillbridge: The secret must be whsec_ and the base64 of 24 to 64 bytes.\n')
  }
  assert.equal(receiver.received.length, 0)
})

test('listen rejects invalid arguments with a message', async () => {
  const runRejectedListen = async (forward: string, ...options: string[]) =>
    (await runCommand(['listen', '--forward', forward, ...options], environment)).err
  for (const forward of ['localhost:3000/hooks', 'ftp://localhost/hooks', '/hooks'])
    assert.equal(await runRejectedListen(forward), 'tillbridge: `--forward` must begin with `http://` or `https://`.\n')
  assert.equal(
    await runRejectedListen('http://me:secret@localhost:3000/hooks'),
    "tillbridge: `--forward` can't contain a username or a password.\n",
  )
  assert.equal(
    await runRejectedListen(receiver.url, '--secret-file', '/nowhere/secret'),
    "tillbridge: /nowhere/secret doesn't exist.\n",
  )
})

test('listen skips removed and returned records and reports purged tombstones', async () => {
  receiver.received.length = 0
  const { db } = database
  const [service] = await listServices(db)
  assert.ok(service)
  const ids = Array.from({ length: 250 }, (_, i) => `back-${i}`)
  await upsertCustomers(
    db,
    service,
    ids.map(id => ({ id, firstname: 'Ann' })),
  )
  const listener = startCommand(['listen', '--forward', receiver.url, '--kinds', 'customer'], environment)
  await waitUntil(() => /Secret: /.test(listener.out), `the command listens: ${listener.err}`, 20_000)
  await db.run(sql`
    insert into tombstone (service_id, kind, id, changed_at) select ${service.id}, 'customer', id, now() from unnest(${ids}::text[]) id`)
  await upsertCustomers(db, service, [{ id: 'new', firstname: 'Bea' }])
  await waitUntil(
    () => parseChanges(receiver.received).some(({ id }) => id === 'new'),
    'the next change is delivered',
    20_000,
  )
  await db.run(sql`
    insert into tombstone_purge (service_id, kind, purged_until) values (${service.id}, 'customer', now() + interval '1 hour')`)
  assert.equal((await listener.ended).code, 1)
  assert.match(listener.err, /were purged\. Start again with --from-beginning\./)
})

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { install } from '../support/installations/installations.ts'
import {
  connectToDatabase,
  createDirectory,
  createServiceAccess,
  findPassword,
  type RunningServer,
  runCommand,
  runSuccessfully,
  sendGet,
  serve,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

const environment = { DATA_DIR: join(createDirectory(), 'data') }
let server: RunningServer

before(async () => {
  server = await serve(['--no-demo'], await install(environment))
  for (const name of ['luma', 'second']) await runSuccessfully(['service', 'add', name], environment)
})
after(() => stopServer(server))

const findApiKey = (output: string) => /^API key: (\S+)$/m.exec(output)?.[1]

const getStatus = async (username: string, password: string, serviceName = 'luma') =>
  (await sendGet(server, '/stores', { username, password, serviceName })).status

test('the second factor of an account is reset by command', async () => {
  await runSuccessfully(['account', 'add', 'anna', '--service', 'luma'], environment)
  const runReset = () => runCommand(['account', 'reset-second-factor', 'anna'], environment)
  assert.match((await runReset()).err, /Account anna has no second factor\./)
  const client = await connectToDatabase(environment.DATA_DIR)
  await client.query(
    `insert into second_factor (username, secret, last_step, recovery_hashes) values ('anna', '', 0, '{}')`,
  )
  await client.end()
  assert.match((await runReset()).out, /^Second factor of anna removed\./)
  assert.match((await runReset()).err, /has no second factor/)
  await runSuccessfully(['account', 'revoke', 'anna'], environment)
})

test('an account has two active passwords and a rotation revokes the oldest', async () => {
  const output = await runSuccessfully(['account', 'add', 'webshop', '--service', 'luma'], environment)
  assert.match(output, /^Account webshop has the role visitor in luma\.$/m)
  assert.match(output, /Save them now\. They won't be shown again\./)
  const passwords = [findPassword(output)]
  assert.equal(findApiKey(output), btoa(`webshop:${passwords[0]}`))
  for (let i = 0; i < 2; i++) {
    const rotated = await runSuccessfully(['account', 'rotate', 'webshop'], environment)
    passwords.push(findPassword(rotated))
    assert.equal(findApiKey(rotated), btoa(`webshop:${passwords.at(-1)}`))
    await delay(2_100)
    const statuses = await Promise.all(passwords.map(password => getStatus('webshop', password)))
    assert.deepEqual(statuses, i ? [401, 200, 200] : [200, 200])
  }
  assert.match(await runSuccessfully(['account', 'list'], environment), /^webshop +luma +visitor +2 /m)
  await runSuccessfully(['account', 'revoke', 'webshop', '--previous-secret'], environment)
  await waitUntil(
    async () => (await getStatus('webshop', passwords[1] ?? '')) === 401,
    'the old password is rejected',
    5_000,
  )
  assert.equal(await getStatus('webshop', passwords[2] ?? ''), 200)
  const listAccounts = async () => runSuccessfully(['account', 'list'], environment)
  await waitUntil(
    async () => /^webshop +luma +visitor +1 +no +\S+ +20\d\d-\d\d-\d\d \d\d:\d\d *$/m.test(await listAccounts()),
    'the last use is recorded',
    20_000,
  )
})

test('an account keeps its role if none is given', async () => {
  const add = ['account', 'add', 'keeper', '--service', 'luma']
  const created = await runSuccessfully([...add, '--role', 'admin'], environment)
  assert.equal(await runSuccessfully(add, environment), 'Account keeper has the role admin in luma.\n')
  assert.equal(
    await runSuccessfully([...add, '--role', 'admin'], environment),
    'Account keeper has the role admin in luma.\n',
  )
  assert.equal(await getStatus('keeper', findPassword(created)), 200)
  assert.equal(
    await runSuccessfully(['account', 'add', 'keeper', '--service', 'second'], environment),
    'Account keeper has the role visitor in second.\n',
  )
  assert.equal(
    await runSuccessfully([...add, '--role', 'maintainer'], environment),
    'Account keeper has the role maintainer in luma.\n',
  )
  await runSuccessfully(['account', 'revoke', 'keeper'], environment)
})

test('console prints a link for the named or the only account', async () => {
  const findLink = (output: string) => /^ {2}(\S+)\/console#link=[\w-]{43}$/m.exec(output)?.[1]
  const consoleEnvironment = { ...environment, PORT: new URL(server.baseUrl).port }
  assert.equal(findLink(await runSuccessfully(['console'], consoleEnvironment)), server.baseUrl)
  assert.equal(findLink(await runSuccessfully(['console', 'webshop'], consoleEnvironment)), server.baseUrl)
  const { code, err } = await runCommand(['console', 'nobody'], environment)
  assert.equal(code, 1)
  assert.match(err, /Account nobody not found\. Run "tillbridge account list"\./)
})

test('an account gets another role or service without a new password', async () => {
  assert.equal(
    await runSuccessfully(['account', 'add', 'webshop', '--service', 'luma', '--role', 'admin'], environment),
    'Account webshop has the role admin in luma.\n',
  )
  assert.equal(
    await runSuccessfully(['account', 'add', 'webshop', '--service', 'second'], environment),
    'Account webshop has the role visitor in second.\n',
  )
  const listed = await runSuccessfully(['account', 'list'], environment)
  assert.match(listed, /^webshop +second +visitor +1 /m)
  assert.match(listed, /^webshop +luma +admin +1 /m)
  const { code, err } = await runCommand(['account', 'add', 'other'], environment)
  assert.equal(code, 1)
  assert.match(err, /--service is required, because there are several services: luma, second\./)
})

test('X-Shopper-IP trust can be granted, revoked and kept', async () => {
  const readTrust = async () =>
    /^backend +luma +visitor +1 +(\S+) /m.exec(await runSuccessfully(['account', 'list'], environment))?.[1]
  await runSuccessfully(['account', 'add', 'backend', '--service', 'luma'], environment)
  assert.equal(await readTrust(), 'no')
  await runSuccessfully(['account', 'add', 'backend', '--service', 'luma', '--trust-shopper-ip'], environment)
  assert.equal(await readTrust(), 'yes')
  const setTrust = async (...args: string[]) => runSuccessfully(['account', 'trust-shopper-ip', ...args], environment)
  assert.equal(await setTrust('backend', 'no'), 'Tillbridge ignores the X-Shopper-IP header of backend.\n')
  assert.equal(await readTrust(), 'no')
  assert.equal(await setTrust('backend', 'yes'), 'Tillbridge trusts the X-Shopper-IP header of backend.\n')
  assert.equal(await readTrust(), 'yes')
  await runSuccessfully(['account', 'add', 'backend', '--service', 'luma'], environment)
  assert.equal(await readTrust(), 'yes', 'an omitted option must change nothing')
  const { code, err } = await runCommand(['account', 'trust-shopper-ip', 'nobody', 'yes'], environment)
  assert.equal(code, 1)
  assert.match(err, /^tillbridge: Account nobody not found\./)
})

test('a command creates, lists and revokes an API key', async () => {
  await runSuccessfully(['account', 'add', 'keyed', '--service', 'luma'], environment)
  const add = ['account', 'key', 'add', 'keyed', 'web-1', '--service', 'luma']
  const output = await runSuccessfully(
    [...add, '--scopes', 'stores:read, orders:read', '--stores', '101', '--expires-in-days', '90'],
    environment,
  )
  const key = /^Key: (tbk_[\w-]{43})$/m.exec(output)?.[1] ?? ''
  assert.equal(findApiKey(output), btoa(`keyed:${key}`))
  assert.equal(await getStatus('keyed', key), 403, 'the key must be limited to a store')
  const listed = await runSuccessfully(['account', 'key', 'list', 'keyed'], environment)
  assert.match(
    listed,
    /^keyed +luma +web-1 +stores:read, orders:read +101 +20\d\d-\d\d-\d\d +20\d\d-\d\d-\d\d \d\d:\d\d +/m,
  )
  for (const [args, message] of [
    [add, /^tillbridge: Account keyed has a key web-1\./],
    [['account', 'key', 'add', 'nobody', 'web-1', '--service', 'luma'], /Account nobody has no role in luma\./],
    [[...add, '--scopes', 'all'], /must be one of `accounts:read`/],
    [['account', 'key', 'revoke', 'keyed', 'none', '--service', 'luma'], /Key none of keyed not found\./],
  ] as const) {
    const { code, err } = await runCommand([...args], environment)
    assert.equal(code, 1)
    assert.match(err, message)
  }
  await runSuccessfully(['account', 'key', 'revoke', 'keyed', 'web-1', '--service', 'luma'], environment)
  await waitUntil(async () => (await getStatus('keyed', key)) === 401, 'the key is rejected', 5_000)
})

test('the running server rejects a revoked account within 5 seconds', async () => {
  const access = await createServiceAccess(environment, 'gone')
  assert.equal((await sendGet(server, '/stores', access)).status, 200)
  assert.match(await runSuccessfully(['account', 'revoke', access.username], environment), /^Account \S+ deleted\.$/m)
  await waitUntil(
    async () => (await sendGet(server, '/stores', access)).status === 401,
    'the account is rejected',
    5_000,
  )
  for (const command of ['revoke', 'rotate']) {
    const { code, err } = await runCommand(['account', command, access.username], environment)
    assert.equal(code, 1)
    assert.match(err, /^tillbridge: Account gone-admin not found\. Run "tillbridge account list"\.\n$/)
  }
})

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { installed } from '../support/installations/installations.ts'
import {
  ask,
  directory,
  done,
  makeAccess,
  passwordIn,
  run,
  type Serving,
  serve,
  stop,
  until,
} from '../support/processes.ts'

const environment = { DATA_DIR: join(directory(), 'data') }
let service: Serving

before(async () => {
  service = await serve(['--no-demo'], await installed(environment))
  for (const name of ['luma', 'second']) await done(['service', 'add', name], environment)
})
after(() => stop(service))

const apiKeyIn = (said: string) => /^API key: (\S+)$/m.exec(said)?.[1]

const statusOf = async (username: string, password: string, serviceName = 'luma') =>
  (await ask(service, '/stores', { username, password, serviceName })).status

test('two passwords of an account are alive, a further rotation ends the oldest', async () => {
  const said = await done(['user', 'add', 'webshop', '--service', 'luma'], environment)
  assert.match(said, /^webshop is visitor of luma\.$/m)
  assert.match(said, /shown this once/)
  const passwords = [passwordIn(said)]
  assert.equal(apiKeyIn(said), btoa(`webshop:${passwords[0]}`))
  for (let i = 0; i < 2; i++) {
    const rotated = await done(['user', 'rotate', 'webshop'], environment)
    passwords.push(passwordIn(rotated))
    assert.equal(apiKeyIn(rotated), btoa(`webshop:${passwords.at(-1)}`))
    await delay(2_100)
    const statuses = await Promise.all(passwords.map(password => statusOf('webshop', password)))
    assert.deepEqual(statuses, i ? [401, 200, 200] : [200, 200])
  }
  assert.match(await done(['user', 'list'], environment), /^webshop +luma +visitor +2 /m)
  await done(['user', 'revoke', 'webshop', '--old'], environment)
  await until(async () => (await statusOf('webshop', passwords[1] ?? '')) === 401, 'the old one ends', 5_000)
  assert.equal(await statusOf('webshop', passwords[2] ?? ''), 200)
  const listed = async () => done(['user', 'list'], environment)
  await until(
    async () => /^webshop +luma +visitor +1 +no +\S+ +20\d\d-\d\d-\d\d \d\d:\d\d *$/m.test(await listed()),
    'its use is noted',
    20_000,
  )
})

test('an account that is there keeps its role where none is said', async () => {
  const add = ['user', 'add', 'keeper', '--service', 'luma']
  const made = await done([...add, '--role', 'admin'], environment)
  assert.equal(await done(add, environment), 'keeper is admin of luma.\n')
  assert.equal(await done([...add, '--role', 'admin'], environment), 'keeper is admin of luma.\n')
  assert.equal(await statusOf('keeper', passwordIn(made)), 200)
  assert.equal(
    await done(['user', 'add', 'keeper', '--service', 'second'], environment),
    'keeper is visitor of second.\n',
  )
  assert.equal(await done([...add, '--role', 'maintainer'], environment), 'keeper is maintainer of luma.\n')
  await done(['user', 'revoke', 'keeper'], environment)
})

test('a link to the console is printed for an account, the only one where none is named', async () => {
  const linkIn = (said: string) => /^ {2}(\S+)\/console#link=[\w-]{43}$/m.exec(said)?.[1]
  const here = { ...environment, PORT: new URL(service.baseUrl).port }
  assert.equal(linkIn(await done(['console'], here)), service.baseUrl)
  assert.equal(linkIn(await done(['console', 'webshop'], here)), service.baseUrl)
  const { code, err } = await run(['console', 'nobody'], environment)
  assert.equal(code, 1)
  assert.match(err, /There is no account nobody; tillbridge user list/)
})

test('an account gets another role or a further service without a new password', async () => {
  assert.equal(
    await done(['user', 'add', 'webshop', '--service', 'luma', '--role', 'admin'], environment),
    'webshop is admin of luma.\n',
  )
  assert.equal(
    await done(['user', 'add', 'webshop', '--service', 'second'], environment),
    'webshop is visitor of second.\n',
  )
  const listed = await done(['user', 'list'], environment)
  assert.match(listed, /^webshop +second +visitor +1 /m)
  assert.match(listed, /^webshop +luma +admin +1 /m)
  const { code, err } = await run(['user', 'add', 'other'], environment)
  assert.equal(code, 1)
  assert.match(err, /There are several services; say which one with --service: luma, second\./)
})

test('an account is trusted to name shoppers when it is made, or later, and no longer', async () => {
  const named = async () => /^backend +luma +visitor +1 +(\S+) /m.exec(await done(['user', 'list'], environment))?.[1]
  await done(['user', 'add', 'backend', '--service', 'luma'], environment)
  assert.equal(await named(), 'no')
  await done(['user', 'add', 'backend', '--service', 'luma', '--names-shoppers'], environment)
  assert.equal(await named(), 'yes')
  const told = async (...args: string[]) => done(['user', 'names-shoppers', ...args], environment)
  assert.equal(await told('backend', 'no'), 'backend is not trusted to name shoppers: X-Shopper-IP is ignored.\n')
  assert.equal(await named(), 'no')
  assert.equal(await told('backend', 'yes'), 'backend is trusted to name shoppers by X-Shopper-IP.\n')
  assert.equal(await named(), 'yes')
  await done(['user', 'add', 'backend', '--service', 'luma'], environment)
  assert.equal(await named(), 'yes', 'what is not said stays')
  const { code, err } = await run(['user', 'names-shoppers', 'nobody', 'yes'], environment)
  assert.equal(code, 1)
  assert.match(err, /^tillbridge: There is no account nobody;/)
})

test('a revoked account is refused by the running service within 5 seconds', async () => {
  const access = await makeAccess(environment, 'gone')
  assert.equal((await ask(service, '/stores', access)).status, 200)
  assert.match(await done(['user', 'revoke', access.username], environment), /is revoked\.$/m)
  await until(async () => (await ask(service, '/stores', access)).status === 401, 'it is refused', 5_000)
  for (const command of ['revoke', 'rotate']) {
    const { code, err } = await run(['user', command, access.username], environment)
    assert.equal(code, 1)
    assert.match(err, /^tillbridge: There is no account gone-admin; tillbridge user list shows those there are\.\n$/)
  }
})

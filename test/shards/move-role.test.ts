import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { buildCustomer } from '../support/customer-bodies.ts'
import { createDirectory, runCommand, runSuccessfully } from '../support/processes.ts'
import type { Caller } from '../support/service.ts'
import { post, withKey } from '../support/write.ts'
import { callerOf, type Spread, startSpread } from './installation.ts'
import { serversIn } from './servers.ts'

// Databases that belong to a role which is no superuser, and signs in with a password.

const home = createDirectory()
const servers = serversIn(home)
let shop: Spread
let luma: Caller
const owned = { east: '', west: '' }

/** Makes a role and a database of its own; returns the URL of it. */
async function ownedAt(name: string) {
  const url = new URL(await servers.start(name))
  await servers.ask(name, `create role shop login password 'secret'`)
  await servers.ask(name, 'create database shop owner shop')
  const rules = join(home, name, 'data/pg_hba.conf')
  writeFileSync(rules, `local all shop scram-sha-256\n${readFileSync(rules, 'utf8')}`)
  await servers.ask(name, 'select pg_reload_conf()')
  url.username = 'shop'
  url.password = 'secret'
  url.pathname = '/shop'
  return url.href
}

before(async () => {
  shop = await startSpread()
  for (const name of ['east', 'west'] as const) {
    owned[name] = await ownedAt(name)
    await shop.add(name, owned[name])
  }
  luma = callerOf(shop, await shop.place('luma', 'east'))
})
after(async () => {
  await shop.stop()
  await servers.stop()
})

test('a role without superuser rights gets a list of required grants', async () => {
  const move = () => runCommand(['service', 'move', 'luma', '--to', 'west'], shop.environment)
  const created = await post(luma, '/customers', buildCustomer(), withKey())
  assert.equal(created.status, 201)

  await servers.ask('west', 'revoke create on database shop from shop')
  const rejected = await move()
  assert.equal(rejected.code, 1)
  assert.match(
    rejected.err,
    /^tillbridge: Nothing was moved\. .*The role shop of east can't replicate: alter role shop replication\./,
  )
  assert.match(rejected.err, /The role shop of west can't subscribe: grant pg_create_subscription to shop/)

  assert.match(
    rejected.err,
    /The role shop of west can't create objects in its database: grant create on database shop to shop/,
  )

  await servers.ask('west', 'grant create on database shop to shop')
  await servers.ask('east', 'alter role shop replication')
  await servers.ask('west', 'grant pg_create_subscription to shop')
  const { code, err, out } = await move()
  assert.equal(code, 0, err)
  assert.match(out, /luma moved to west/)
  assert.equal((await luma.get(`/customers/${created.json.data.id}`)).status, 200)
})

test('a database without create permission is rejected with a remedy', async () => {
  await servers.ask('east', `create database "of-root"`)
  const environment = { DATABASE_URL: Object.assign(new URL(owned.east), { pathname: '/of-root' }).href }
  const rejected = await runCommand(['migrate'], environment)
  const wayOut = 'alter database "of-root" owner to shop'
  assert.deepEqual(
    [rejected.code, rejected.err],
    [1, `tillbridge: The role shop can't create tables in the database "of-root". Run: ${wayOut}\n`],
  )
  await servers.ask('east', wayOut)
  assert.match(await runSuccessfully(['migrate'], environment), /^Applied: 0001_/)
})

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { buildCustomer } from '../support/customer-bodies.ts'
import { createDirectory, runCommand, runSuccessfully } from '../support/processes.ts'
import type { Caller } from '../support/service.ts'
import { post, withKey } from '../support/write.ts'
import { createCaller, type ShardedInstallation, startShardedInstallation } from './installation.ts'
import { createServers } from './servers.ts'

// The databases belong to a role that is not a superuser and signs in with a password.

const home = createDirectory()
const servers = createServers(home)
let shop: ShardedInstallation
let luma: Caller
const ownedUrls = { east: '', west: '' }

/** Starts a server with a database that belongs to the role `shop`. Returns its URL. */
async function createOwnedDatabase(name: string) {
  const url = new URL(await servers.start(name))
  await servers.query(name, `create role shop login password 'secret'`)
  await servers.query(name, 'create database shop owner shop')
  const hbaFile = join(home, name, 'data/pg_hba.conf')
  writeFileSync(hbaFile, `local all shop scram-sha-256\n${readFileSync(hbaFile, 'utf8')}`)
  await servers.query(name, 'select pg_reload_conf()')
  url.username = 'shop'
  url.password = 'secret'
  url.pathname = '/shop'
  return url.href
}

before(async () => {
  shop = await startShardedInstallation()
  for (const name of ['east', 'west'] as const) {
    ownedUrls[name] = await createOwnedDatabase(name)
    await shop.addShard(name, ownedUrls[name])
  }
  luma = createCaller(shop, await shop.createShardService('luma', 'east'))
})
after(async () => {
  await shop.stop()
  await servers.stop()
})

test('a role without superuser rights gets a list of required grants', async () => {
  const runMove = () => runCommand(['service', 'move', 'luma', '--to', 'west'], shop.environment)
  const created = await post(luma, '/customers', buildCustomer(), withKey())
  assert.equal(created.status, 201)

  await servers.query('west', 'revoke create on database shop from shop')
  const rejected = await runMove()
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

  await servers.query('west', 'grant create on database shop to shop')
  await servers.query('east', 'alter role shop replication')
  await servers.query('west', 'grant pg_create_subscription to shop')
  const { code, err, out } = await runMove()
  assert.equal(code, 0, err)
  assert.match(out, /luma moved to west/)
  assert.equal((await luma.get(`/customers/${created.json.data.id}`)).status, 200)
})

test('a database without create permission is rejected with a remedy', async () => {
  await servers.query('east', `create database "of-root"`)
  const environment = { DATABASE_URL: Object.assign(new URL(ownedUrls.east), { pathname: '/of-root' }).href }
  const rejected = await runCommand(['migrate'], environment)
  const remedy = 'alter database "of-root" owner to shop'
  assert.deepEqual(
    [rejected.code, rejected.err],
    [1, `tillbridge: The role shop can't create tables in the database "of-root". Run: ${remedy}\n`],
  )
  await servers.query('east', remedy)
  assert.match(await runSuccessfully(['migrate'], environment), /^Applied: 0001_/)
})

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Postgres, startPostgres } from '../../../src/postgres/postgres.ts'
import { urlOf } from '../../../trials/standby.ts'
import { john } from '../../support/customer-bodies.ts'
import { directory } from '../../support/processes.ts'
import type { Caller } from '../../support/service.ts'
import { keyed, post } from '../../support/write.ts'
import { callerOf, type Spread, startSpread } from './installation.ts'

const home = directory()
const servers: Postgres[] = []
let shop: Spread
let luma: Caller

async function startServer(name: string) {
  const settings = { fsync: 'off', max_connections: '40', shared_buffers: '16MB' }
  const postgres = await startPostgres(join(home, name), { settings, restartWaitsMs: [] })
  servers.push(postgres)
  return urlOf([postgres], postgres.connection.database)
}

before(async () => {
  shop = await startSpread()
  const urls = await Promise.all([startServer('east'), startServer('west')])
  await shop.add('east', urls[0])
  await shop.add('west', urls[1])
  luma = callerOf(shop, await shop.place('luma', 'east'))
  for (let i = 0; i < 5; i++) assert.equal((await post(luma, '/customers', john(), keyed())).status, 201)
})
after(async () => {
  await shop.stop()
  for (const each of servers) await each.stop()
})

test('smoke', async () => {
  const began = performance.now()
  console.log(await shop.command('service', 'move', 'luma', '--to', 'west'))
  console.log(performance.now() - began)
  console.log(await shop.command('service', 'list'))
  assert.equal((await luma.get('/customers/search?updated_after=2020-01-01%2000:00:00')).json.data.length, 5)
})

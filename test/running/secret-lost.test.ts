import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from '../../src/db.ts'
import { signedHeaders } from '../../src/webhooks/signature.ts'
import { emptyDatabase, freshDatabase } from '../support/database.ts'
import { directory, done, run, serve, stop, until } from '../support/processes.ts'
import { startReceiver } from '../support/webhooks/receiver.ts'

test('after the way out of a lost secret data databases are known again, and a webhook that is rotated is told', async t => {
  const [control, east, receiver] = [await freshDatabase(), await emptyDatabase(), await startReceiver()]
  t.after(() => Promise.all([control.drop(), east.drop(), receiver.close()]))
  const home = directory()
  const before = {
    DATA_DIR: join(home, 'data'),
    DATABASE_URL: control.connection,
    SECRET_KEY: 'lost'.repeat(8),
    WEBHOOK_NETWORKS: '127.0.0.0/8',
  }
  const addEast = ['database', 'add', 'east', '--url-file', join(home, 'east.url')]
  writeFileSync(join(home, 'east.url'), `${east.connection}\n`)
  await done(addEast, before)
  await done(['service', 'add', 'luma', '--database', 'east'], before)
  const said = await done(['webhook', 'add', receiver.url, '--kinds', 'store'], before)
  const [, id = ''] = /^The webhook (\S+) is told/.exec(said) ?? []

  for (const { db } of [control, east]) await db.run(sql`delete from installation`)
  const now = { ...before, SECRET_KEY: 'kept'.repeat(8) }
  const { code, out } = await run(['database', 'list'], now)
  assert.equal(code, 1)
  assert.match(out, /encrypted with another SECRET_KEY\. To say it anew: tillbridge database add east/)
  assert.match(await done(addEast, now), /^The database east is known, with the 1 services in it\./)

  const { err } = await run(['webhook', 'test', id], now)
  assert.match(err, /^tillbridge: Its secret was made under another SECRET_KEY, .*: rotate it\.\n$/)
  assert.equal(receiver.received.length, 0)
  const [, secret = ''] = /^Secret: (\S+)$/m.exec(await done(['webhook', 'rotate', id], now)) ?? []
  await done(['webhook', 'rewind', id, 'beginning'], now)
  await done(['webhook', 'resume', id], now)
  const service = await serve(['--no-demo'], now)
  t.after(() => stop(service))
  writeFileSync(join(home, 'stores.csv'), 'storeId,storeNumber,name\n1,101,Collins Street\n')
  await done(['import', 'stores', join(home, 'stores.csv')], now)
  await until(() => receiver.received.length > 0, 'it is told', 30_000)
  const [told] = receiver.received
  assert.ok(told)
  const { 'webhook-id': delivery = '', 'webhook-timestamp': timestamp, 'webhook-signature': signature } = told.headers
  const signed = { id: String(delivery), timestamp: Number(timestamp), body: told.body }
  assert.equal(signature, signedHeaders([secret], signed)['webhook-signature'])
})

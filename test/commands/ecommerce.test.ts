import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { ShopifySimulator } from '../../simulator/shopify/handle.ts'
import { startShopifySimulator } from '../../simulator/shopify/simulator.ts'
import { openConnectionCommands } from '../support/installations/connection-commands.ts'
import { runCommand, runSuccessfully } from '../support/processes.ts'

const canary = 'kanarie-Geheimnis-9'

describe('tillbridge ecommerce', () => {
  const commands = openConnectionCommands('ecommerce', canary)
  const { environment, secretFile, query, runSuccessfully: runCli, runCommand: runFailing } = commands
  let simulator: ShopifySimulator

  before(async () => {
    simulator = await startShopifySimulator({ settings: { clientSecret: canary } })
    await commands.start()
  })
  after(async () => {
    await commands.stop()
    await simulator?.close()
  })

  test('a missing connection is an error', async () => {
    const { code, err } = await runFailing('test', 'luma')
    assert.equal(code, 1)
    assert.match(err, /luma has no connection\. To create it: tillbridge ecommerce set luma/)
  })

  test('set names every invalid setting', async () => {
    const { code, err } = await runFailing(
      'set',
      'luma',
      'url=ftp://x',
      'driver=magento',
      'secret=x',
      'interval.ecommerce-variants=3s',
    )
    assert.equal(code, 1)
    assert.match(err, /url must be a host name/)
    assert.match(err, /driver must be one of shopify/)
    assert.match(err, /A secret can't be a command-line argument/)
    assert.match(err, /interval\.ecommerce-variants must be from 1m to 7d/)
  })

  test('set reads the secret from a file and stores it encrypted', async () => {
    const output = await runCli(
      'set',
      'luma',
      `url=${simulator.url}`,
      'clientId=simulated-app',
      '--secret-file',
      secretFile,
    )
    assert.match(output, /^secret = \(set\)$/m)
    const [row] = await query<{ secret: string }>(
      "select encode(encrypted_secret, 'escape') as secret from ecommerce_connection",
    )
    assert.ok(row && !row.secret.includes(canary))
    const audit = JSON.stringify(await query('select record from audit'))
    assert.match(audit, /ecommerce set/)
    assert.ok(!audit.includes(canary))
  })

  test('test checks the shop with a token that all processes share', async () => {
    const output = await runCli('test', 'luma')
    assert.match(output, /Connected: luma-au, plan Basic, AUD, Australia\/Melbourne\./)
    assert.match(output, /All scopes are granted/)
    const tokenQuery =
      "select encode(encrypted_token, 'hex') as token from ecommerce_connection where encrypted_token is not null"
    const storedToken = await query(tokenQuery)
    assert.equal(storedToken.length, 1)
    await runCli('test', 'luma')
    assert.deepEqual(await query(tokenQuery), storedToken)
  })

  test('test names missing scopes, protected data and another currency', async () => {
    simulator.set({ scopes: ['read_products', 'write_inventory'], currency: 'NZD' })
    const { code, err } = await runFailing('test', 'luma')
    assert.equal(code, 1)
    assert.match(err, /The app needs the scope read_customers\./)
    assert.match(err, /The app needs the scope read_locations\./)
    assert.doesNotMatch(err, /read_inventory/)
    assert.match(err, /The shop's currency is NZD, but luma uses AUD\./)
    simulator.reset()
    simulator.set({ protectedDataLevel: 1 })
    assert.match((await runFailing('test', 'luma')).err, /protected customer data, level 2/)
    simulator.reset()
  })

  test('a revoked token is replaced, and a wrong secret is reported', async () => {
    simulator.revokeTokens()
    assert.match(await runCli('test', 'luma'), /Connected/)
    simulator.revokeTokens()
    simulator.set({ clientSecret: 'another' })
    const { code, err } = await runFailing('test', 'luma')
    assert.equal(code, 1)
    assert.match(err, /rejected the client ID or the secret\. \(denied\)/)
    simulator.reset()
  })

  test('a throttled call waits and is repeated', async () => {
    simulator.faults.add({ kind: 'throttled', path: '/Shop', times: 1 })
    simulator.faults.add({ kind: 'status', path: '/Access', times: 1 })
    assert.match(await runCli('test', 'luma'), /Connected/)
    simulator.reset()
  })

  test('a version that the platform no longer supports is an error', async () => {
    simulator.set({ versions: ['2026-10'] })
    assert.match((await runFailing('test', 'luma')).err, /no longer supports API version 2026-07/)
    simulator.reset()
  })

  test('status shows settings, syncs and points', async () => {
    await runCli('set', 'luma', 'autoMapping=exact', 'interval.ecommerce-variants=2m')
    const status = await runCli('status', 'luma')
    assert.match(status, /^autoMapping = exact$/m)
    assert.match(status, /^interval\.ecommerce-variants = 2m$/m)
    assert.match(status, /ecommerce-locations +none +never/)
    assert.match(status, /^Points: \d+ of 2000, 100 restored per second\.$/m)
  })

  test('tillbridge sync reads the platform too', async () => {
    const output = await runSuccessfully(['sync', '--service', 'luma'], environment)
    assert.match(output, /^ecommerce-locations +3 +3 .*full$/m)
    assert.match(output, /^ecommerce-variants +40 +40 .*full$/m)
    assert.match(output, /^ecommerce-customers +20 +20 .*full$/m)
    simulator.faults.add({ kind: 'bulk-failed', path: '/Bulk' })
    const { code, out } = await runCommand(['sync', 'ecommerce-variants', '--full', '--service', 'luma'], environment)
    assert.deepEqual(
      [code, out.trim()],
      [1, 'ecommerce-variants: The bulk operation ended as FAILED (INTERNAL_SERVER_ERROR).'],
    )
    simulator.reset()
    assert.match(await runCli('status', 'luma'), /ecommerce-locations +ok/)
  })

  test('a file of platform items is rejected while they are synced', async () => {
    const { code, err } = await runCommand(['import', 'ecommerce-variants', '-', '--service', 'luma'], environment)
    assert.equal(code, 1)
    assert.match(
      err,
      /ecommerce-variants can't be imported from a file, because the e-commerce connection of luma syncs/,
    )
  })

  test('events require a public URL', async () => {
    const { code, err } = await runFailing('set', 'luma', 'events=on')
    assert.equal(code, 1)
    assert.match(err, /PUBLIC_URL must be set: the platform sends its events to this URL\./)
    assert.equal(simulator.shop.subscriptions.size, 0)
  })

  test('set, test and status create and check the subscriptions of events', async () => {
    const publicEnvironment = { ...environment, PUBLIC_URL: 'https://api.example.com' }
    const run = (...args: string[]) => runCommand(['ecommerce', ...args], publicEnvironment)
    const created = await run('set', 'luma', 'events=on')
    const { size } = simulator.shop.subscriptions
    assert.ok(size > 10)
    assert.ok(created.out.includes(`Events: ${size} of ${size} topics are sent.`), created.out + created.err)
    for (const { uri, includeFields } of simulator.shop.subscriptions.values()) {
      assert.equal(uri, 'https://api.example.com/ecommerce/events/luma/main')
      assert.ok(includeFields.length)
    }
    const [first] = simulator.shop.subscriptions.keys()
    simulator.shop.subscriptions.delete(first ?? 0)
    simulator.set({ scopes: simulator.settings.scopes.filter(scope => scope !== 'read_customer_merge') })
    const tested = await run('test', 'luma')
    assert.equal(tested.code, 1)
    assert.match(tested.err, /The platform doesn't send PRODUCTS_CREATE\. To subscribe again: tillbridge ecommerce set/)
    const { out } = await run('status', 'luma')
    assert.match(out, /^Missing: PRODUCTS_CREATE\.$/m)
    assert.match(out, /^CUSTOMERS_MERGE needs the scope read_customer_merge\.$/m)
    await run('set', 'luma', 'events=on')
    assert.match((await run('test', 'luma')).out, /All scopes are granted/)
    assert.match((await run('set', 'luma', 'events=off')).out, /The platform sends no events any more\./)
    assert.equal(simulator.shop.subscriptions.size, 0)
    await run('set', 'luma', 'events=on')
    simulator.set({ clientSecret: 'another' })
    simulator.revokeTokens()
    const unreachable = await run('set', 'luma', 'events=off')
    assert.equal(unreachable.code, 0)
    assert.match(unreachable.err, /The subscriptions could not be changed: .* Run the command again\./)
    simulator.set({ clientSecret: canary })
  })

  test('a rotated secret replaces the stored one, which stays valid for events', async () => {
    const readPreviousSecret = () =>
      query<{ previous: string | null; isValid: boolean }>(
        `select encode(encrypted_previous_secret, 'escape') as previous, previous_secret_until > now() as "isValid" from ecommerce_connection`,
      )
    await runCli('set', 'luma', 'autoMapping=off', '--secret-file', secretFile)
    assert.deepEqual(await readPreviousSecret(), [{ previous: null, isValid: null }])
    const rotated = join(environment.DATA_DIR, '..', 'rotated')
    writeFileSync(rotated, 'rotated\n')
    await runCli('set', 'luma', 'autoMapping=off', '--secret-file', rotated)
    const [row] = await readPreviousSecret()
    assert.ok(row?.previous && !row.previous.includes(canary))
    assert.equal(row.isValid, true)
    await runCli('set', 'luma', 'autoMapping=off', '--secret-file', secretFile)
  })

  test('the stock push of a shop starts only after its dry run', async () => {
    const required = /The stock push can't start without a dry run of the last 7 days\./
    assert.match((await runFailing('set', 'luma', 'stockPush=on')).err, required)
    await runCli('set', 'luma', 'stockPush=dryRun')
    await runCli('reconcile', 'luma')
    assert.match(await runCli('set', 'luma', 'stockPush=on'), /^stockPush = on$/m)
    const otherShop = simulator.url.replace('127.0.0.1', 'localhost')
    assert.notEqual(otherShop, simulator.url)
    const { code, err } = await runFailing('set', 'luma', `url=${otherShop}`, '--secret-file', secretFile)
    assert.equal(code, 1, 'another shop must require its own dry run')
    assert.match(err, required)
    await runCli('set', 'luma', 'stockPush=off')
  })

  test('clear removes connection and subscriptions; no output has the secret', async () => {
    const publicEnvironment = { ...environment, PUBLIC_URL: 'https://api.example.com' }
    await runSuccessfully(['ecommerce', 'set', 'luma', 'events=on'], publicEnvironment)
    assert.ok(simulator.shop.subscriptions.size)
    await runCli('clear', 'luma')
    assert.equal(simulator.shop.subscriptions.size, 0)
    assert.deepEqual(await query('select from ecommerce_connection union all select from ecommerce_budget'), [])
    assert.match(await runCli('clear', 'luma'), /luma has no connection/)
    commands.assertSecretIsHidden()
  })
})

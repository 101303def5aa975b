import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startMedusaSimulator } from '../../simulator/medusa/simulator.ts'
import { openConnectionCommands } from '../support/installations/connection-commands.ts'
import { runSuccessfully } from '../support/processes.ts'

describe('tillbridge ecommerce with Medusa', async () => {
  const simulator = await startMedusaSimulator()
  const commands = openConnectionCommands('ecommerce', simulator.token)
  const { environment, secretFile, query, runSuccessfully: runCli, runCommand: runFailing } = commands
  before(() => commands.start())
  after(async () => {
    await commands.stop()
    await simulator.close()
  })

  test('set requires a secret API key and rejects settings of Shopify', async () => {
    const publishable = join(environment.DATA_DIR, '../publishable')
    writeFileSync(publishable, 'pk_1')
    const wrong = await runFailing('set', 'luma', 'driver=medusa', `url=${simulator.url}`, '--secret-file', publishable)
    assert.equal(wrong.code, 1)
    assert.match(wrong.err, /must be a secret API key of Medusa: it begins with sk_/)
    const settings = ['driver=medusa', `url=${simulator.url}`, 'clientId=app', 'events=on']
    const { code, err } = await runFailing('set', 'luma', ...settings, '--secret-file', secretFile)
    assert.equal(code, 1)
    assert.match(err, /clientId and events can't be set for the driver medusa\./)
  })

  test('set stores the key encrypted, and test checks it', async () => {
    const output = await runCli('set', 'luma', 'driver=medusa', `url=${simulator.url}`, '--secret-file', secretFile)
    assert.match(output, /^driver = medusa$/m)
    assert.doesNotMatch(output, /clientId|apiVersion/)
    const [row] = await query<{ secret: string }>(
      "select encode(encrypted_secret, 'escape') as secret from ecommerce_connection",
    )
    assert.ok(row && !row.secret.includes(simulator.token))
    const tested = await runCli('test', 'luma')
    assert.match(tested, /^Connected: Medusa Store, AUD\.$/m)
    assert.match(tested, /^Prices include tax\.$/m)
    assert.match(tested, /^The secret API key is valid\.$/m)
    await runSuccessfully(['service', 'set', 'luma', 'currency=NZD'], environment)
    assert.match((await runFailing('test', 'luma')).err, /The shop's currency is AUD, but luma uses NZD\./)
    await runSuccessfully(['service', 'set', 'luma', 'currency=AUD'], environment)
  })

  test('syncs run, and status shows them without points', async () => {
    simulator.change({ kind: 'location', name: 'Store 1' })
    const productId = simulator.change({ kind: 'product', title: 'Hoodie' })
    simulator.change({ kind: 'variant', productId, sku: 'A-1' })
    const output = await runSuccessfully(['sync', '--service', 'luma'], environment)
    assert.match(output, /^ecommerce-locations +1 +1 .*full$/m)
    assert.match(output, /^ecommerce-variants +1 +1 .*full$/m)
    const status = await runCli('status', 'luma')
    assert.match(status, /ecommerce-variants +ok/)
    assert.doesNotMatch(status, /Points/)
  })

  test('a rejected key is reported, and clear removes the connection', async () => {
    simulator.revokeToken()
    const { code, err } = await runFailing('test', 'luma')
    assert.equal(code, 1)
    assert.match(err, /The platform rejected the secret API key\. \(denied\)/)
    assert.match(await runCli('clear', 'luma'), /Connection of luma removed/)
    commands.assertSecretIsHidden()
  })
})

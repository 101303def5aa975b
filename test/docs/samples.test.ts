import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { findFreePort } from '../../scenarios/support/free-port.ts'
import { demoSettings, fillDemoShop } from '../../seed/shop.ts'
import { checkout, createDirectory, startCommand, waitUntil } from '../support/processes.ts'
import { startTestApi } from '../support/service.ts'

const api = await startTestApi({ settings: demoSettings, role: 'maintainer' })
after(() => api.stop())
await fillDemoShop(api.db, api.keys, api.service)

const samples = fileURLToPath(new URL('../../examples/shop/', import.meta.url))
const client = join(checkout, 'client/src/index.ts')

const languages = {
  curl: { extension: 'sh', program: ['bash'], needs: ['curl', '--version'] },
  typescript: { extension: 'ts', program: [process.execPath], needs: [process.execPath, '--version'] },
  python: { extension: 'py', program: ['python3'], needs: ['python3', '-c', 'import requests'] },
  php: { extension: 'php', program: ['php'], needs: ['php', '-r', 'exit(extension_loaded("curl") ? 0 : 1);'] },
} as const
type Language = keyof typeof languages

const canRun = (language: Language) => {
  const [program, ...args] = languages[language].needs
  return spawnSync(program, args).status === 0
}

/** Copies the samples of a language into a directory in which they find the client. */
function prepareSamples(language: Language) {
  const directory = createDirectory()
  for (const file of globSync('*', { cwd: samples + language }))
    if (language === 'typescript') {
      const text = readFileSync(join(samples, language, file), 'utf8')
      writeFileSync(join(directory, file), text.replaceAll("'tillbridge-client'", `'${client}'`))
    } else copyFileSync(join(samples, language, file), join(directory, file))
  writeFileSync(join(directory, 'ca.pem'), api.ca)
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  return directory
}

for (const language of Object.keys(languages) as Language[])
  test(`the guides' samples in ${language} work`, {
    skip: !canRun(language) && `${language} is not installed`,
  }, async () => {
    const directory = prepareSamples(language)
    const { extension, program } = languages[language]
    const startSample = (name: string, environment: Record<string, string | undefined>) => {
      const ca = join(directory, 'ca.pem')
      const [command, ...args] = program
      return startCommand(
        [],
        {
          TILLBRIDGE_URL: api.baseUrl,
          TILLBRIDGE_USERNAME: api.username,
          TILLBRIDGE_PASSWORD: api.password,
          TILLBRIDGE_SERVICE: api.service.name,
          SIGN_UP_ID: language,
          BASKET_ID: language,
          CURL_CA_BUNDLE: ca,
          NODE_EXTRA_CA_CERTS: ca,
          REQUESTS_CA_BUNDLE: ca,
          ...environment,
        },
        { cwd: directory, program: [command, ...args, join(directory, `${name}.${extension}`)] },
      )
    }
    const runSample = async (name: string, environment: Record<string, string | undefined> = {}) => {
      const running = startSample(name, environment)
      const { code } = await running.ended
      assert.equal(code, 0, `${name}: ${running.out}${running.err}`)
      assert.doesNotMatch(running.out, /"status":[45]\d\d/, name)
      return running.out
    }
    assert.match(await runSample('first-request'), /Pardalote Lane/)
    assert.match(await runSample('stock'), language === 'curl' ? /"sellable":[1-9]/ : /in stock/)
    await runSample('create-customer')
    assert.match(await runSample('check-voucher'), /1\d\d\.00/)
    const incomplete = await startSample('checkout', { BASKET_ID: undefined }).ended
    assert.notEqual(incomplete.code, 0, 'a checkout without a basket must fail before it locks the voucher')
    const placed = await runSample('checkout')
    const [orderId = ''] = /W\w+|[0-9a-f-]{36}/.exec(placed) ?? []
    assert.equal(await runSample('checkout'), placed, 'a repeated checkout must return the same order')
    assert.equal((await api.get(`/orders/${orderId}`)).status, 200, orderId)
    assert.match(await runSample('quote'), /129\.90/)
    const issued = await runSample('issue-voucher')
    assert.match(issued, /active/)
    assert.equal(await runSample('issue-voucher'), issued, 'a repeated request must return the same voucher')
    await runSample('return', { ORDER_ID: orderId })
    assert.equal((await api.get(`/orders/${orderId}/returns`)).json.data.length, 1)
    assert.match(await runSample('rewards'), /Fledgling/)
    assert.match(await runSample('redeem'), /confirmed/)
    await runSample('retry')
    assert.match(await runSample('poll-changes'), /customer/)
    assert.notEqual(readFileSync(join(directory, 'cursor'), 'utf8').trim(), '')
    const exported = await runSample('export')
    if (language === 'curl')
      assert.ok(readFileSync(join(directory, 'products.ndjson'), 'utf8').split('\n').length > 100)
    else assert.match(exported, /^\d{3,} products as of \d{4}-.*Z/m)
  })

const secret = `whsec_${Buffer.from('a secret of this test').toString('base64')}`

for (const [language, commands] of Object.entries({
  typescript: [process.execPath, 'receive-webhook.ts'],
  python: ['python3', 'receive-webhook.py'],
  php: ['php', '-S', 'localhost:PORT', 'receive-webhook.php'],
}) as [Language, [string, ...string[]]][])
  test(`the ${language} sample receives webhooks and rejects forged ones`, {
    skip: !canRun(language) && `${language} is not installed`,
  }, async () => {
    const port = await findFreePort()
    const [command, ...args] = commands
    const program = [command, ...args.map(word => word.replace('PORT', String(port)))] as const
    const environment = { WEBHOOK_SECRET: secret, PORT: String(port) }
    const receiver = startCommand([], environment, { cwd: prepareSamples(language), program })
    const body = JSON.stringify({
      type: 'records.changed',
      data: { changes: [{ kind: 'order', id: '8001', action: 'changed', path: '/orders/8001' }] },
    })
    const post = async (text: string, at: Date, unknown = 'v1,unknown') => {
      const headers = {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': `${unknown} ${new Webhook(secret).sign('msg_1', at, body)}`,
      }
      return (await fetch(`http://localhost:${port}/hooks`, { method: 'POST', headers, body: text })).status
    }
    await waitUntil(() => post(body, new Date()).catch(() => undefined), `the sample listens: ${receiver.err}`)
    await waitUntil(
      () => /order 8001 changed \/orders\/8001/.test(receiver.out + receiver.err),
      'the sample prints the change',
    )
    assert.deepEqual(
      [
        await post(body, new Date()),
        await post(body, new Date(), 'v1,\u00e4'),
        await post(`${body} `, new Date()),
        await post(body, new Date(Date.now() - 600_000)),
      ],
      [204, 204, 400, 400],
    )
    receiver.child.kill()
    await receiver.ended
  })

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { demoSettings, fillDemoShop } from '../../seed/shop.ts'
import { killGroup, startCommand, waitUntil } from '../../test/support/processes.ts'
import { startTestApi } from '../../test/support/service.ts'
import { put } from '../../test/support/write.ts'

// Runs the code samples of the shop's operations against the demo shop.

const api = await startTestApi({ settings: demoSettings })
const directory = mkdtempSync(join(tmpdir(), 'tillbridge-samples-'))
after(async () => {
  rmSync(directory, { recursive: true })
  await api.stop()
})
await fillDemoShop(api.db, api.keys, api.service)

const authority = join(directory, 'ca.pem')
writeFileSync(authority, api.ca)
writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')

interface Operation {
  operationId: string
  'x-codeSamples'?: { label: string; source: string }[]
}
const document = (await api.sendRaw('/openapi.json?view=shop&samples=true')).json
const operations = Object.values<Record<string, Operation>>(document.paths).flatMap(methods => Object.values(methods))

const environment = {
  ...process.env,
  TILLBRIDGE_URL: api.baseUrl,
  TILLBRIDGE_USERNAME: api.username,
  TILLBRIDGE_PASSWORD: api.password,
  TILLBRIDGE_SERVICE: api.service.name,
  CURL_CA_BUNDLE: authority,
  NODE_EXTRA_CA_CERTS: authority,
  REQUESTS_CA_BUNDLE: authority,
}

const languages = {
  curl: { extension: 'sh', program: ['bash'], probe: ['curl', '--version'] },
  TypeScript: { extension: 'ts', program: [process.execPath], probe: [process.execPath, '--version'] },
  Python: { extension: 'py', program: ['python3'], probe: ['python3', '-c', 'import requests'] },
  PHP: {
    extension: 'php',
    program: ['php', '-d', `curl.cainfo=${authority}`],
    probe: ['php', '-r', 'exit(extension_loaded("curl") ? 0 : 1);'],
  },
} as const

/** Statuses that depend on the data: the demo shop has no record with the ID of an example, or the record has another state. */
const dataStatuses = [403, 404, 409, 412, 422]

/** Operations whose samples are files that need the ID of a sign-up, a basket or an order. */
const samplesWithIds = ['createCustomer', 'createReturn', 'issueVoucher', 'placeOrder']
/** Operations whose samples import another file of their folder, except in curl. */
const samplesWithImports = ['getCustomerRewards', 'listChanges', 'listInventory', 'listStores', 'validateVoucher']

const execute = promisify(execFile)

for (const [language, { extension, program, probe }] of Object.entries(languages)) {
  const [command, ...args] = probe
  const skip = spawnSync(command, args).status !== 0 && `${language} with its HTTP library is not installed`
  test(`the generated samples in ${language} send valid requests`, { skip }, async () => {
    const skipped: string[] = []
    for (const { operationId, 'x-codeSamples': samples = [] } of operations) {
      const source = samples.find(({ label }) => label === language)?.source ?? assert.fail(`${operationId} has none`)
      // The stream is endless, so another test runs it. test/docs/samples.test.ts runs the files.
      const isFile = !/TILLBRIDGE_URL/.test(source) || /SIGN_UP_ID|BASKET_ID|ORDER_ID/.test(source)
      if (isFile || operationId === 'streamChanges') {
        skipped.push(operationId)
        continue
      }
      const file = join(directory, `${operationId}.${extension}`)
      writeFileSync(file, source)
      const [executable, ...options] = program
      const { stdout } = await execute(executable, [...options, file], { cwd: directory, env: environment })
      const response = stdout.trim() ? JSON.parse(stdout) : {}
      const isError = 'requestId' in response && 'code' in response
      if (isError) assert.ok(dataStatuses.includes(response.status), `${operationId}: ${stdout}`)
      assert.notEqual(response.code, 'idempotency_key_reused', operationId)
    }
    const imports = language === 'curl' ? [] : samplesWithImports
    assert.deepEqual(skipped.sort(), ['streamChanges', ...samplesWithIds, ...imports].sort())
  })
  test(`the sample of the stream in ${language} prints each change`, { skip }, async () => {
    const stream = operations.find(({ operationId }) => operationId === 'streamChanges')
    const file = join(directory, `stream.${extension}`)
    writeFileSync(file, stream?.['x-codeSamples']?.find(({ label }) => label === language)?.source ?? '')
    const [executable, ...options] = program
    const sample = startCommand([], environment, { program: [executable, ...options, file] })
    try {
      await waitUntil(() => sample.out.includes('id: '), 'the stream begins')
      const [store] = (await api.get('/stores')).json.data
      const { status } = await put(api, `/stores/${store.storeNumber}`, { inventoryBuffer: store.inventoryBuffer + 1 })
      assert.equal(status, 200)
      await waitUntil(() => /event: change\n[\s\S]*"kind":"store"/.test(sample.out), 'the change is printed')
    } finally {
      killGroup(sample)
      await sample.ended
    }
  })
}

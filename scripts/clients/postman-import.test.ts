import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { installNpmTools } from '../../scenarios/support/install-tools.ts'
import { demoSettings, fillDemoShop } from '../../seed/shop.ts'
import { startCommand } from '../../test/support/processes.ts'
import { startTestApi } from '../../test/support/service.ts'

// Imports the published document as Postman does, with its default settings, and sends all requests.

const api = await startTestApi({ settings: demoSettings })
const directory = mkdtempSync(join(tmpdir(), 'tillbridge-import-'))
after(async () => {
  rmSync(directory, { recursive: true })
  await api.stop()
})
await fillDemoShop(api.db, api.keys, api.service)

interface Item {
  name: string
  item?: Item[]
  request?: { method: string; url: { path: string[] } }
}

/** Runs after each request. An error must come from the data: the demo shop has no record with the ID of an example. */
const checks = `
const { code } = pm.response
pm.test('works', () => {
  pm.expect([200, 201, 202, 204, 403, 404, 409, 422], pm.response.text()).to.include(code)
  if (code === 403) pm.expect(pm.response.json().code).to.eql('voucher_not_accepted')
  if (code === 422) pm.expect(pm.response.json().code).not.to.eql('idempotency_key_reused')
})
pm.test('is no dry run', () => pm.expect(pm.response.headers.has('Preference-Applied')).to.eql(false))`

/** Returns the requests of a collection, except the stream, which has no end. */
const listRequests = ({ item = [], ...own }: Item): Item[] => [
  ...(own.request && !own.request.url.path.includes('stream') ? [own] : []),
  ...item.flatMap(listRequests),
]

test('the requests of a Postman import work', async t => {
  const importer = await installNpmTools('openapi-to-postmanv2@6.3.3')
  const programs = await installNpmTools('newman@6.2.2')
  if (!importer || !programs) return t.skip('openapi-to-postmanv2 and newman cannot be installed')
  const published = join(directory, 'openapi.json')
  const file = join(directory, 'collection.json')
  const { json: openApi, text } = await api.sendRaw('/openapi.json?view=postman')
  writeFileSync(published, text)
  execFileSync(join(importer, 'openapi2postmanv2'), ['-s', published, '-o', file], { stdio: 'ignore' })
  const collection = JSON.parse(readFileSync(file, 'utf8'))
  const requests = listRequests(collection)
  const operations = Object.values<object>(openApi.paths).flatMap(path => Object.keys(path))
  // The stream is left out.
  assert.equal(requests.length, operations.length - 1)
  // Reads first, because writes change and delete records.
  requests.sort((a, b) => Number(a.request?.method !== 'GET') - Number(b.request?.method !== 'GET'))
  const event = [{ listen: 'test', script: { type: 'text/javascript', exec: checks.split('\n') } }]
  writeFileSync(file, JSON.stringify({ ...collection, item: requests, event }))
  const authority = join(directory, 'ca.pem')
  writeFileSync(authority, api.ca)
  const variables = {
    baseUrl: api.baseUrl,
    basicAuthUsername: api.username,
    basicAuthPassword: api.password,
    service: api.service.name,
  }
  const newman = startCommand(
    [],
    {},
    {
      program: [
        join(programs, 'newman'),
        ...['run', file],
        ...Object.entries(variables).flatMap(([name, value]) => ['--env-var', `${name}=${value}`]),
        ...['--ssl-extra-ca-certs', authority, '--reporters', 'cli', '--reporter-cli-no-banner', '--color', 'off'],
      ],
    },
  )
  const { code } = await newman.ended
  assert.equal(code, 0, newman.out + newman.err)
  assert.match(newman.out, new RegExp(`assertions │ +${requests.length * 2} │ +0`))
})

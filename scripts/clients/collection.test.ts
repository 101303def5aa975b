import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { installNpmTools } from '../../scenarios/support/install-tools.ts'
import { demoSettings, fillDemoShop } from '../../seed/shop.ts'
import { checkout, startCommand } from '../../test/support/processes.ts'
import { startTestApi } from '../../test/support/service.ts'

const api = await startTestApi({ settings: demoSettings, role: 'maintainer' })
const directory = mkdtempSync(join(tmpdir(), 'tillbridge-collection-'))
after(async () => {
  rmSync(directory, { recursive: true })
  await api.stop()
})
await fillDemoShop(api.db, api.keys, api.service)

test('all requests of the collection succeed in their order', async t => {
  const programs = await installNpmTools('newman@6.2.2')
  if (!programs) return t.skip('newman cannot be installed')
  const authority = join(directory, 'ca.pem')
  writeFileSync(authority, api.ca)
  const file = (name: string) => join(checkout, 'examples/postman', name)
  const requests = readFileSync(file('tillbridge.postman_collection.json'), 'utf8').match(/"method":/g)?.length
  const variables = { url: api.baseUrl, username: api.username, password: api.password, service: api.service.name }
  const newman = startCommand(
    [],
    {},
    {
      program: [
        join(programs, 'newman'),
        ...['run', file('tillbridge.postman_collection.json'), '-e', file('demo.postman_environment.json')],
        ...Object.entries(variables).flatMap(([name, value]) => ['--env-var', `${name}=${value}`]),
        ...['--ssl-extra-ca-certs', authority, '--reporters', 'cli', '--reporter-cli-no-banner', '--color', 'off'],
      ],
    },
  )
  const { code } = await newman.ended
  assert.equal(code, 0, newman.out + newman.err)
  assert.match(newman.out, new RegExp(`assertions │ +${requests} │ +0`))
})

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.ts'
import { install } from '../support/installations/installations.ts'
import {
  connectToDatabase,
  createDirectory,
  type RunningServer,
  runCommand,
  runSuccessfully,
  serve,
  stopServer,
} from '../support/processes.ts'

const environment: Record<string, string> = { DATA_DIR: join(createDirectory(), 'data'), RUN_JOBS: 'false' }
let provider: TestIdentityProvider
let server: RunningServer

before(async () => {
  provider = await startIdentityProvider(() => 'https://localhost/console')
  Object.assign(environment, provider.environment, {
    OIDC_ROLES: 'staff=luma:maintainer',
    PUBLIC_URL: 'https://localhost',
  })
  server = await serve(['--no-demo'], await install(environment))
  await runSuccessfully(['service', 'add', 'luma'], environment)
})
after(async () => {
  if (server) await stopServer(server)
  await provider.stop()
})

/** Returns the doctor's line about sign-in. */
const checkSignIn = async (overrides: Record<string, string> = {}) => {
  const { out } = await runCommand(['doctor', '--json'], { ...environment, ...overrides })
  return JSON.parse(out).find(({ check }: { check: string }) => check === 'Sign-in')
}

test('the doctor reaches the issuer and prints the redirect URI', async () => {
  const { ok, isWarning, detail } = await checkSignIn()
  assert.deepEqual(
    [ok, isWarning, detail],
    [true, false, `${provider.issuer}/, redirect URI https://localhost/console`],
  )
})

test('the doctor names the setting for a private certificate authority', async () => {
  const port = new URL(server.baseUrl).port
  const { ok, detail } = await checkSignIn({ OIDC_ISSUER: `https://localhost:${port}` })
  assert.equal(ok, false)
  assert.match(detail, /can't be read \(\S+\)\. The certificate isn't trusted: set NODE_EXTRA_CA_CERTS to the file/)
})

test('the doctor explains a wrong issuer, service and address', async () => {
  const wrongPath = await checkSignIn({ OIDC_ISSUER: `${provider.issuer}/other` })
  assert.equal(wrongPath.ok, false)
  assert.match(
    wrongPath.detail,
    /\/other\/\.well-known\/openid-configuration can't be read .* must be exactly the issuer/,
  )
  const unknown = await checkSignIn({ OIDC_ROLES: 'staff=missing:admin,staff=*:visitor' })
  assert.deepEqual([unknown.ok, unknown.isWarning], [true, true])
  assert.match(unknown.detail, /don't exist: missing\./)
  assert.match((await checkSignIn({ PUBLIC_URL: '' })).detail, /^PUBLIC_URL is not set/)
})

test('start rejects incomplete settings with all problems at once', async () => {
  const { out } = await runCommand(['doctor'], { ...environment, OIDC_CLIENT_ID: '', OIDC_ROLES: '' })
  assert.match(out, /OIDC_CLIENT_ID must be set together with OIDC_ISSUER/)
  assert.match(out, /OIDC_ROLES must be set together with OIDC_ISSUER/)
  for (const [name, value, problem] of [
    ['OIDC_ISSUER', 'http://login.example.com', /OIDC_ISSUER must be a URL that begins with https/],
    ['OIDC_ROLES', 'staff=luma:owner', /OIDC_ROLES must be entries such as/],
    ['OIDC_SCOPES', 'email', /OIDC_SCOPES must contain openid/],
  ] as const)
    assert.match((await runCommand(['doctor'], { ...environment, [name]: value })).out, problem)
})

test('commands give a person neither a password nor a key', async () => {
  const client = await connectToDatabase(environment.DATA_DIR ?? '')
  try {
    await client.query(
      `insert into account (username, skeleton, identity_issuer, identity_subject) values ('ann', 'ann', 'i', 's')`,
    )
    await client.query(
      `insert into account_service (service_id, username, role) select service_id, 'ann', 'visitor' from service`,
    )
  } finally {
    await client.end()
  }
  for (const args of [
    ['account', 'rotate', 'ann'],
    ['account', 'add', 'ann', '--service', 'luma', '--role', 'admin'],
    ['account', 'key', 'add', 'ann', 'key', '--service', 'luma'],
  ]) {
    const { code, err } = await runCommand(args, environment)
    assert.equal(code, 1)
    assert.match(err, /The identity provider manages the account ann\./)
  }
  await runSuccessfully(['account', 'revoke', 'ann'], environment)
})

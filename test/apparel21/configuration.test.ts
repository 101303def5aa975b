import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, readConfig } from '../../src/config/config.ts'
import { sftpAddressIn } from '../../src/domain/tenancy/back-office-settings.ts'

const canary = 'kanarie-Wachtwoord-7'

describe('settings of the back office in the environment', () => {
  const whole = { BACK_OFFICE: 'apparel21', BACK_OFFICE_URL: 'https://a.example/RetailAPI', BACK_OFFICE_COUNTRY: 'AU' }
  const faultsOf = (environment: Record<string, string>) => {
    try {
      readConfig(environment)
    } catch (error) {
      assert.ok(error instanceof ConfigError)
      return error.message
    }
    return ''
  }

  test('what goes together is taken', () => {
    assert.equal(faultsOf(whole), '')
    assert.equal(faultsOf({ ...whole, BACK_OFFICE_USER: 'retail', BACK_OFFICE_PASSWORD: canary }), '')
    assert.equal(readConfig(whole).backOfficeUrl, 'https://a.example/RetailAPI')
  })

  const bad: [what: string, environment: Record<string, string>, fault: RegExp][] = [
    ['an unknown one', { BACK_OFFICE: 'sap' }, /^BACK_OFFICE is one of embedded, apparel21, not "sap"\.$/],
    [
      'one without address and country',
      { BACK_OFFICE: 'apparel21' },
      /^BACK_OFFICE_URL is needed where BACK_OFFICE is apparel21\.\nBACK_OFFICE_COUNTRY is needed /,
    ],
    [
      'a user without a password',
      { ...whole, BACK_OFFICE_USER: 'retail' },
      /^BACK_OFFICE_USER and BACK_OFFICE_PASSWORD /,
    ],
    ['an address of nothing', { BACK_OFFICE_URL: whole.BACK_OFFICE_URL }, /BACK_OFFICE=apparel21 is missing\.$/],
    ['a zone that is none', { ...whole, BACK_OFFICE_TIME_ZONE: 'Melbourne' }, /^BACK_OFFICE_TIME_ZONE is a time zone/],
    [
      'no number of calls',
      { ...whole, BACK_OFFICE_CONCURRENCY: '0' },
      /^BACK_OFFICE_CONCURRENCY is a number from 1 to 256/,
    ],
    ['a release that is none', { ...whole, BACK_OFFICE_RELEASE: 'latest' }, /^BACK_OFFICE_RELEASE is a release like/],
    [
      'a certificate that is not there',
      { ...whole, BACK_OFFICE_CA_FILE: '/no/ca.pem' },
      /^BACK_OFFICE_CA_FILE names a file/,
    ],
    [
      'a folder that is not whole',
      { ...whole, BACK_OFFICE_EXPORTS: 'exports' },
      /^BACK_OFFICE_EXPORTS is the whole path/,
    ],
  ]
  for (const [what, environment, fault] of bad)
    test(`${what} is named at the start`, () => assert.match(faultsOf(environment), fault))

  test('a password in an address is refused and not repeated', () => {
    const told = faultsOf({ ...whole, BACK_OFFICE_URL: `https://retail:${canary}@a.example/RetailAPI` })
    assert.match(told, /^BACK_OFFICE_URL is an address .* without a user/)
    assert.doesNotMatch(told, new RegExp(canary))
  })
})
const strangeKey = 'SHA256:uNiVztksCsDhcc0u9e8BrJQn8rgGRjBOmWmJQ2AxQfE'

describe('settings of exports on an SFTP server', () => {
  const whole = {
    BACK_OFFICE: 'apparel21',
    BACK_OFFICE_URL: 'https://a.example/RetailAPI',
    BACK_OFFICE_COUNTRY: 'AU',
    BACK_OFFICE_EXPORTS: 'sftp://luma@files.example/out',
    BACK_OFFICE_EXPORTS_HOST_KEY: strangeKey,
    BACK_OFFICE_EXPORTS_PASSWORD: canary,
  }
  const faultsOf = (change: Record<string, string | undefined>) => {
    try {
      readConfig({ ...whole, ...change })
    } catch (error) {
      assert.ok(error instanceof ConfigError)
      return error.message
    }
    return ''
  }

  test('an address tells the user, the server and the folder', () => {
    const parts = (text: string) => Object.values(sftpAddressIn(text) ?? {})
    assert.deepEqual(parts('sftp://luma@files.example/'), ['luma', 'files.example', 22, '/'])
    assert.deepEqual(parts('sftp://a%40b@[::1]:2222/out/of%20here/'), ['a@b', '::1', 2222, '/out/of here'])
    assert.deepEqual(parts('sftp://luma@files.example/~/out'), ['luma', 'files.example', 22, './out'])
  })

  const sftp = (rest: string) => ({ BACK_OFFICE_EXPORTS: `sftp://${rest}` })
  const bad: [what: string, change: Record<string, string | undefined>, fault: RegExp][] = [
    ['a password in the address', sftp(`luma:${canary}@a.example/`), /^BACK_OFFICE_EXPORTS has no password in it: /],
    ['an odd password in it', sftp(`luma:${canary}/#@a.example/`), /^BACK_OFFICE_EXPORTS has no password in it: /],
    ['no user', sftp('files.example/out'), /^BACK_OFFICE_EXPORTS is the whole path of a folder, .* or an address like/],
    ['a query', sftp('luma@files.example/out?a=b'), /^BACK_OFFICE_EXPORTS is /],
    ['half a character', sftp('luma@files.example/%e4'), /^BACK_OFFICE_EXPORTS is /],
    ['no key of the host', { BACK_OFFICE_EXPORTS_HOST_KEY: undefined }, /^BACK_OFFICE_EXPORTS_HOST_KEY is needed: /],
    ['a key of MD5', { BACK_OFFICE_EXPORTS_HOST_KEY: 'MD5:aa:bb' }, /^BACK_OFFICE_EXPORTS_HOST_KEY is one or more /],
    ['nobody to sign in', { BACK_OFFICE_EXPORTS_PASSWORD: undefined }, /^BACK_OFFICE_EXPORTS_PASSWORD or .*_KEY_FILE /],
    ['a folder with a password', { BACK_OFFICE_EXPORTS: '/srv/out' }, /^BACK_OFFICE_EXPORTS_HOST_KEY, .*_PASSWORD: /],
  ]
  for (const [what, change, fault] of bad)
    test(`${what} is refused, and no secret is repeated`, () => {
      const told = faultsOf(change)
      assert.match(told, fault)
      assert.ok(!told.includes(canary), told)
    })

  test('what goes together is taken', () => {
    assert.equal(faultsOf({}), '')
    assert.equal(faultsOf({ BACK_OFFICE_EXPORTS_HOST_KEY: `${strangeKey}, ${strangeKey}=` }), '')
    assert.equal(faultsOf({ BACK_OFFICE_EXPORTS_PASSWORD: undefined, BACK_OFFICE_EXPORTS_KEY_FILE: '/etc/key' }), '')
  })
})

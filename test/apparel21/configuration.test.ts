import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, readConfig } from '../../src/config/config.ts'
import { parseSftpAddress } from '../../src/domain/tenancy/back-office-settings.ts'

const canary = 'kanarie-Wachtwoord-7'

describe('settings of the back office in the environment', () => {
  const complete = {
    BACK_OFFICE: 'apparel21',
    BACK_OFFICE_URL: 'https://a.example/RetailAPI',
    BACK_OFFICE_COUNTRY: 'AU',
  }
  const findProblems = (environment: Record<string, string>) => {
    try {
      readConfig(environment)
    } catch (error) {
      assert.ok(error instanceof ConfigError)
      return error.message
    }
    return ''
  }

  test('a complete configuration is accepted', () => {
    assert.equal(findProblems(complete), '')
    assert.equal(findProblems({ ...complete, BACK_OFFICE_USER: 'retail', BACK_OFFICE_PASSWORD: canary }), '')
    assert.equal(readConfig(complete).backOfficeUrl, 'https://a.example/RetailAPI')
  })

  const bad: [what: string, environment: Record<string, string>, fault: RegExp][] = [
    ['an unknown one', { BACK_OFFICE: 'sap' }, /^BACK_OFFICE must be one of embedded, apparel21; it is "sap"\.$/],
    [
      'a driver without URL and country',
      { BACK_OFFICE: 'apparel21' },
      /^BACK_OFFICE_URL must be set if BACK_OFFICE is apparel21\.\nBACK_OFFICE_COUNTRY must be set /,
    ],
    [
      'a user without a password',
      { ...complete, BACK_OFFICE_USER: 'retail' },
      /^BACK_OFFICE_USER and BACK_OFFICE_PASSWORD /,
    ],
    [
      'a URL for the embedded back office',
      { BACK_OFFICE_URL: complete.BACK_OFFICE_URL },
      /can't be set for the embedded back office\. Set BACK_OFFICE=apparel21 too\.$/,
    ],
    [
      'an invalid time zone',
      { ...complete, BACK_OFFICE_TIME_ZONE: 'Melbourne' },
      /^BACK_OFFICE_TIME_ZONE must be an IANA time zone/,
    ],
    [
      'an invalid concurrency',
      { ...complete, BACK_OFFICE_CONCURRENCY: '0' },
      /^BACK_OFFICE_CONCURRENCY must be an integer from 1 to 256/,
    ],
    [
      'an invalid share of syncs',
      { ...complete, BACK_OFFICE_SYNC_SHARE: '101' },
      /^BACK_OFFICE_SYNC_SHARE must be an integer from 1 to 100/,
    ],
    [
      'an invalid version',
      { ...complete, BACK_OFFICE_VERSION: 'latest' },
      /^BACK_OFFICE_VERSION must be a version such as/,
    ],
    [
      'a missing certificate',
      { ...complete, BACK_OFFICE_CA_FILE: '/no/ca.pem' },
      /^BACK_OFFICE_CA_FILE must name an existing file/,
    ],
    [
      'a relative folder',
      { ...complete, BACK_OFFICE_EXPORT_FOLDER: 'exports' },
      /^BACK_OFFICE_EXPORT_FOLDER must be an absolute path/,
    ],
  ]
  for (const [label, environment, fault] of bad)
    test(`${label} is reported at the start`, () => assert.match(findProblems(environment), fault))

  test('a password in a URL is rejected and not repeated', () => {
    const message = findProblems({ ...complete, BACK_OFFICE_URL: `https://retail:${canary}@a.example/RetailAPI` })
    assert.match(message, /^BACK_OFFICE_URL must be a URL .* without a user/)
    assert.doesNotMatch(message, new RegExp(canary))
  })
})
const strangeKey = 'SHA256:uNiVztksCsDhcc0u9e8BrJQn8rgGRjBOmWmJQ2AxQfE'

describe('settings of exports on an SFTP server', () => {
  const complete = {
    BACK_OFFICE: 'apparel21',
    BACK_OFFICE_URL: 'https://a.example/RetailAPI',
    BACK_OFFICE_COUNTRY: 'AU',
    BACK_OFFICE_EXPORT_FOLDER: 'sftp://luma@files.example/out',
    BACK_OFFICE_SFTP_HOST_KEY: strangeKey,
    BACK_OFFICE_SFTP_PASSWORD: canary,
  }
  const findProblems = (change: Record<string, string | undefined>) => {
    try {
      readConfig({ ...complete, ...change })
    } catch (error) {
      assert.ok(error instanceof ConfigError)
      return error.message
    }
    return ''
  }

  test('an SFTP URL contains the user, the server and the folder', () => {
    const listParts = (text: string) => Object.values(parseSftpAddress(text) ?? {})
    assert.deepEqual(listParts('sftp://luma@files.example/'), ['luma', 'files.example', 22, '/'])
    assert.deepEqual(listParts('sftp://a%40b@[::1]:2222/out/of%20here/'), ['a@b', '::1', 2222, '/out/of here'])
    assert.deepEqual(listParts('sftp://luma@files.example/~/out'), ['luma', 'files.example', 22, './out'])
  })

  const toSftpFolder = (location: string) => ({ BACK_OFFICE_EXPORT_FOLDER: `sftp://${location}` })
  const bad: [what: string, change: Record<string, string | undefined>, fault: RegExp][] = [
    [
      'a password in the address',
      toSftpFolder(`luma:${canary}@a.example/`),
      /^BACK_OFFICE_EXPORT_FOLDER can't contain a password: /,
    ],
    [
      'an odd password in it',
      toSftpFolder(`luma:${canary}/#@a.example/`),
      /^BACK_OFFICE_EXPORT_FOLDER can't contain a password: /,
    ],
    [
      'no user',
      toSftpFolder('files.example/out'),
      /^BACK_OFFICE_EXPORT_FOLDER must be an absolute path, or a URL such as/,
    ],
    ['a query', toSftpFolder('luma@files.example/out?a=b'), /^BACK_OFFICE_EXPORT_FOLDER must be /],
    ['an invalid escape', toSftpFolder('luma@files.example/%e4'), /^BACK_OFFICE_EXPORT_FOLDER must be /],
    [
      'no key of the host',
      { BACK_OFFICE_SFTP_HOST_KEY: undefined },
      /^BACK_OFFICE_SFTP_HOST_KEY must be set to the fingerprint /,
    ],
    [
      'a key of MD5',
      { BACK_OFFICE_SFTP_HOST_KEY: 'MD5:aa:bb' },
      /^BACK_OFFICE_SFTP_HOST_KEY must be one or more fingerprints /,
    ],
    [
      'no credentials',
      { BACK_OFFICE_SFTP_PASSWORD: undefined },
      /^BACK_OFFICE_SFTP_PASSWORD or .*_KEY_FILE must be set /,
    ],
    [
      'a folder with a password',
      { BACK_OFFICE_EXPORT_FOLDER: '/srv/out' },
      /^BACK_OFFICE_SFTP_HOST_KEY, .*_PASSWORD can't be set unless /,
    ],
  ]
  for (const [label, change, fault] of bad)
    test(`${label} is rejected without repeating a secret`, () => {
      const message = findProblems(change)
      assert.match(message, fault)
      assert.ok(!message.includes(canary), message)
    })

  test('a complete configuration is accepted', () => {
    assert.equal(findProblems({}), '')
    assert.equal(findProblems({ BACK_OFFICE_SFTP_HOST_KEY: `${strangeKey}, ${strangeKey}=` }), '')
    assert.equal(findProblems({ BACK_OFFICE_SFTP_PASSWORD: undefined, BACK_OFFICE_SFTP_KEY_FILE: '/etc/key' }), '')
  })
})

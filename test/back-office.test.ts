import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Simulator, startSimulator } from '../simulator/simulator.ts'
import { ConfigError, readConfig } from '../src/config.ts'
import { sql } from '../src/db.ts'
import { keysFrom } from '../src/secrets.ts'
import { clearBackOffice, setBackOffice, storedBackOffice } from '../src/store/back-office.ts'
import { checkout, databaseOf, directory, done, run, type Serving, serve, stop, until } from './processes.ts'
import { startTestService, type TestService } from './service.ts'
import { post } from './write.ts'

const customer = {
  ...{ firstname: 'Jo', surname: 'Sample', contact: { email: 'jo.sample@example.test' } },
  address: { addressLine1: '1 Sample St' },
}
const canary = 'kanarie-Wachtwoord-7'
const driverOf = async (caller: Pick<TestService, 'get'>) => (await caller.get('/capabilities')).json.data.backOffice

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

describe('the back office of a service', () => {
  let simulator: Simulator
  let older: Simulator
  let service: TestService
  const settingsFor = ({ url }: Simulator) => ({ driver: 'apparel21' as const, url, country: 'AU' })

  before(async () => {
    simulator = await startSimulator({ release: '2025.1' })
    older = await startSimulator({ release: '2021.3' })
    service = await startTestService({
      environment: { BACK_OFFICE: 'apparel21', BACK_OFFICE_URL: simulator.url, BACK_OFFICE_COUNTRY: 'AU' },
    })
  })
  after(async () => {
    await service?.stop()
    await simulator?.close()
    await older?.close()
  })

  test('is the one of the environment, unless it has its own; a change is in force within 5 s, and for nobody else', async () => {
    const other = await service.tenant()
    assert.deepEqual(await driverOf(service), { driver: 'apparel21', release: '2025.1' })
    assert.deepEqual(await driverOf(other), { driver: 'apparel21', release: '2025.1' })

    await setBackOffice(service.db, service.keys, other.service, settingsFor(older))
    await until(async () => (await driverOf(other)).release === '2021.3', 'the other back office is asked', 5_000)
    assert.equal((await driverOf(service)).release, '2025.1')

    await setBackOffice(service.db, service.keys, other.service, { driver: 'embedded' })
    await until(async () => (await driverOf(other)).driver === 'embedded', 'it is its own tables', 5_000)

    await clearBackOffice(service.db, other.service)
    await until(async () => (await driverOf(other)).release === '2025.1', 'it is the one of the environment', 5_000)
  })

  test('writes go through to it', async () => {
    const made = await post(service, '/customers', customer)
    assert.equal(made.status, 201, made.text)
    const person = simulator.state.persons.get(Number(made.json.data.id))
    assert.equal(person?.surname, 'Sample')
    assert.equal((await service.get(`/customers/${made.json.data.id}`)).status, 200)
  })

  test('a pinned release outranks what the back office says', async () => {
    const pinned = await service.tenant()
    await setBackOffice(service.db, service.keys, pinned.service, { ...settingsFor(older), release: '2023.4a' })
    await until(async () => (await driverOf(pinned)).release === '2023.4a', 'it is pinned', 5_000)
  })

  test('a password is kept encrypted, for its service alone', async () => {
    const [one, two] = [await service.tenant(), await service.tenant()]
    const settings = { ...settingsFor(older), user: 'retail', password: canary }
    await setBackOffice(service.db, service.keys, one.service, settings)
    const row = await service.db.row<{ text: string }>(
      sql`select row_to_json(b)::text || encode(password, 'escape') as text from back_office b where service_id = ${one.service.id}`,
    )
    assert.ok(row?.text.includes('retail'))
    assert.ok(!row?.text.includes(canary))
    assert.deepEqual((await storedBackOffice(service.db, service.keys, one.service))?.settings, settings)

    await setBackOffice(service.db, service.keys, two.service, settings)
    await service.db.run(
      sql`update back_office set password = (select password from back_office where service_id = ${one.service.id}) where service_id = ${two.service.id}`,
    )
    const moved = await storedBackOffice(service.db, service.keys, two.service)
    assert.equal(moved?.isLocked, true, 'one that was moved there does not open')
    const elsewhere = await storedBackOffice(service.db, keysFrom(randomBytes(32)), one.service)
    assert.deepEqual([elsewhere?.isLocked, elsewhere?.settings.password], [true, undefined])
  })

  test('while it is away lists go on, what needs it is 503, and the service is ready', async () => {
    const lone = await service.tenant()
    const gone = await startSimulator()
    await setBackOffice(service.db, service.keys, lone.service, settingsFor(gone))
    const isAsked = async () => {
      await driverOf(lone)
      return gone.ledger.calls.length > 0
    }
    await until(isAsked, 'it is asked', 5_000)
    await gone.close()
    const made = await post(lone, '/customers', customer)
    assert.equal(made.status, 503, made.text)
    assert.equal(made.json.code, 'back_office_unavailable')
    assert.ok(Number(made.headers['retry-after']) >= 1)
    assert.ok(!made.text.includes(new URL(gone.url).host))
    for (const path of ['/stores', '/inventory', '/products', '/customers/search', '/orders/transactions/search'])
      assert.equal((await lone.get(path)).status, 200, path)
    assert.equal((await lone.get('/health/ready')).status, 200)
  })
})

describe('tillbridge back-office', () => {
  const home = directory()
  const environment = { DATA_DIR: join(home, 'data'), JOBS: 'off', LOG_LEVEL: 'debug' }
  const passwordFile = join(home, 'password')
  const cli = (...args: string[]) => done(['back-office', ...args], environment)
  const failing = (...args: string[]) => run(['back-office', ...args], environment)
  let simulator: Simulator
  let service: Serving
  const told: string[] = []

  before(async () => {
    writeFileSync(passwordFile, `${canary}\n`)
    simulator = await startSimulator({ settings: { credentials: { user: 'retail', password: canary } } })
    service = await serve(['--no-demo'], environment)
    await done(['service', 'add', 'luma', 'currency=AUD'], environment)
  })
  after(async () => {
    if (service) await stop(service)
    await simulator?.close()
  })

  test('set takes the password from a file, show and the audit do not tell it', async () => {
    const set = await cli(
      'set',
      'luma',
      `url=${simulator.url}`,
      'country=AU',
      'user=retail',
      '--password-file',
      passwordFile,
    )
    assert.match(set, /^driver = apparel21 \(its own\)$/m)
    assert.match(set, /^password = \(set\)$/m)
    told.push(set, await cli('show', 'luma'))
    const client = await databaseOf(environment.DATA_DIR)
    const { rows } = await client.query('select record from audit')
    await client.end()
    const audit = rows.map(({ record }) => record).join('\n')
    assert.match(audit, /"operation":"back-office set","subject":"\/back-office","fields":\["url","country","user"\]/)
    assert.doesNotMatch(audit, new RegExp(canary))
  })

  test('test tells the release and what works, with the credentials that are set', async () => {
    const out = await cli('test', 'luma')
    told.push(out)
    assert.match(out, /^Reached: release 2025\.1, \d+ stores, AUD\.$/m)
    assert.match(out, /^works {2}orders$/m)
    assert.match(out, /^lacks {2}staff: /m)
    simulator.set({ credentials: { user: 'retail', password: 'another' } })
    const refused = await failing('test', 'luma')
    simulator.set({ credentials: { user: 'retail', password: canary } })
    assert.equal(refused.code, 1)
    assert.match(
      refused.err,
      /tillbridge: The back office of luma does not answer as it should: .*\(back_office_unavailable\)/,
    )
    told.push(refused.err)
  })

  test('set reads the password from standard input, and keeps what is not named', async () => {
    const program = ['/bin/sh', '-c', `printf '%s\\n' '${canary}' | exec "$0" "$@"`, process.execPath] as const
    const args = [join(checkout, 'src/cli.ts'), 'back-office', 'set', 'luma', 'user=retail']
    await done(args, environment, { program })
    told.push(await cli('set', 'luma', 'release=2023.4a'))
    assert.match(told.at(-1) ?? '', /^country = AU\nuser = retail\nrelease = 2023\.4a\npassword = \(set\)$/m)
  })

  test('set names every fault, and changes nothing then', async () => {
    const { code, err } = await failing(
      'set',
      'luma',
      'url=ftp://a',
      'colour=blue',
      'timeZone=Mars',
      `password=${canary}`,
    )
    assert.equal(code, 1)
    assert.match(
      err,
      /^tillbridge: url is an address .*\n"colour=blue" is no setting.*\ntimeZone is a time zone .*\nA password on the command line /m,
    )
    told.push(err)
    const half = await failing('set', 'luma', 'country=')
    assert.match(half.err, /country is needed where driver is apparel21\./)
  })

  test('clear leaves the service to the environment', async () => {
    assert.match(await cli('clear', 'luma'), /^luma is left to the environment\.$/m)
    assert.match(await cli('show', 'luma'), /^driver = embedded \(the environment's\)$/m)
  })

  test('the password is in nothing that was said or logged', async () => {
    assert.doesNotMatch([...told, service.out, service.err].join('\n'), new RegExp(canary))
    assert.ok(told.length >= 5)
  })
})

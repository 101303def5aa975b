import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pino } from 'pino'
import type { Simulator } from '../../simulator/control/handle.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { drivers } from '../../src/backoffice/drivers.ts'
import { syncFeed } from '../../src/backoffice/sync/sync.ts'
import { choicesAmong } from '../../src/commands/back-office-choices.ts'
import { ConfigError, readConfig } from '../../src/config.ts'
import { sql } from '../../src/db.ts'
import { keysFrom } from '../../src/secrets.ts'
import { upsertProducts } from '../../src/store/goods/products.ts'
import { clearBackOffice, setBackOffice, storedBackOffice } from '../../src/store/running/back-office.ts'
import { upsertGateways } from '../../src/store/running/gateways.ts'
import { checkout, databaseOf, directory, done, run, type Serving, serve, stop, until } from '../support/processes.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { post } from '../support/write.ts'

const customer = {
  firstname: 'Jo',
  surname: 'Sample',
  contact: { email: 'jo.sample@example.test' },
  address: { addressLine1: '1 Sample St' },
}
const named = (email: string) => ({ ...customer, contact: { email: `${email}@example.test` } })
const other = named('other')
const address = { addressLine1: '1 Sample St', city: 'Melbourne', country: 'Australia' }
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

  test('an order is paid with the merchant that the gateway was given, and nothing is made up for one without', async () => {
    const shop = await service.tenant({ currency: 'AUD' })
    const capability = async (name: string) => {
      const { capabilities } = (await shop.get('/capabilities')).json.data
      return capabilities.find((one: { name: string }) => one.name === name)
    }
    await upsertGateways(service.db, shop.service, [{ name: 'paypal' }, { name: 'zip' }, { name: 'cash' }])
    assert.match((await capability('gatewayMerchants')).reason, /merchant of `cash`, `paypal`, `zip`,/)
    const settings = {
      ...settingsFor(simulator),
      gateways: { paypal: { merchantId: 'PAYPAL', cardType: 'PP' }, zip: { origin: 'Zip' as const } },
    }
    await setBackOffice(service.db, service.keys, shop.service, settings)
    assert.deepEqual((await storedBackOffice(service.db, service.keys, shop.service))?.settings, settings)
    const isKnown = async () => / of `cash`, and/.test((await capability('gatewayMerchants')).reason)
    await until(isKnown, 'the merchants are known', 5_000)

    const driver = drivers.apparel21(settings, shop.service, pino({ level: 'silent' }))
    for (const feed of driver.feeds)
      if (['stores', 'products'].includes(feed.name)) await syncFeed(service.db, shop.service, feed)
    driver.close()
    const { id: customerId } = (await post(shop, '/customers', other)).json.data
    const { sku, price } = await service.db
      .row<{ sku: string; price: string }>(
        sql`select sku, round(price, 2)::text as price from variant where service_id = ${shop.service.id} and price > 3 order by sku limit 1`,
      )
      .then(row => row ?? assert.fail('there are products'))
    const rest = (Number(price) - 2).toFixed(2)
    const placed = await post(shop, '/orders', {
      customerId,
      billingAddress: address,
      deliveryAddress: address,
      lines: [{ sku, quantity: 1 }],
      payments: [
        { gateway: 'paypal', amount: rest, reference: 'PAYID-1' },
        { gateway: 'zip', amount: '1.00' },
        { gateway: 'cash', amount: '1.00' },
      ],
    })
    assert.equal(placed.status, 201, placed.text)
    assert.deepEqual(
      simulator.state.orders
        .get(Number(placed.json.data.id))
        ?.payments.map(({ origin, merchantId, cardType, amount }) => [origin, merchantId, cardType, amount]),
      [
        ['CreditCard', 'PAYPAL', 'PP', Number(rest)],
        ['Zip', '', 'zip', 1],
        ['CreditCard', '', 'cash', 1],
      ],
    )
    await upsertGateways(service.db, shop.service, [{ name: 'visa' }])
    assert.match((await capability('gatewayMerchants')).reason, /merchant of `cash`, `visa`,/)
  })

  test('capabilities name what the tables lack of what settings name, with either back office', async () => {
    const settings = { vouchersEnabled: true, voucherType: 'GV_EMAIL', giftCardSku: 'GIFT' }
    const [remote, own] = [await service.tenant(settings), await service.tenant(settings)]
    await setBackOffice(service.db, service.keys, own.service, { driver: 'embedded' })
    await until(async () => (await driverOf(own)).driver === 'embedded', 'it is its own tables', 5_000)
    for (const shop of [remote, own]) {
      const reasons = async () => {
        const { capabilities } = (await shop.get('/capabilities')).json.data
        return new Map<string, string>(capabilities.map(({ name, reason }: Record<string, string>) => [name, reason]))
      }
      const before = await reasons()
      const noGateway = 'The setting `gateways` has no payment gateway.'
      const noSku = 'The back office has no SKU `GIFT`, which the setting `giftCardSku` names.'
      assert.equal(before.get('paymentGateways'), noGateway)
      assert.equal(before.get('vouchersIssue'), `${noSku} ${noGateway}`)
      await upsertGateways(service.db, shop.service, [{ name: 'paypal' }])
      await upsertProducts(service.db, shop.service, [
        {
          product: { productId: '1', productCode: 'GIFT', name: 'Gift card' },
          colour: { productId: '1', colourId: '1' },
          variant: { skuId: '1', productId: '1', colourId: '1', sku: 'GIFT', sizeCode: '-', price: '0.00' },
        },
      ])
      const now = await reasons()
      assert.deepEqual(
        [now.has('paymentGateways'), now.get('paymentGateways'), now.get('vouchersIssue')],
        [true, undefined, undefined],
      )
    }
  })

  test('capabilities tell that no process does jobs, and only then', async () => {
    const jobs = async () => {
      const { capabilities } = (await service.get('/capabilities')).json.data
      return capabilities.find(({ name }: { name: string }) => name === 'jobs')
    }
    assert.deepEqual(await jobs(), { name: 'jobs', available: true })
    await service.db.run(sql`insert into job (name, due_at) values ('plan-syncs', now() - interval '50 s')`)
    assert.equal((await jobs()).available, true, 'it may be about to be taken')
    await service.db.run(sql`update job set due_at = now() - interval '61 s'`)
    assert.match((await jobs()).reason, /^No process does jobs: e-mails wait/)
    await service.db.run(sql`update job set lease = gen_random_uuid(), leased_until = now() + interval '20 s'`)
    assert.equal((await jobs()).available, true, 'somebody is at it')
    await service.db.run(sql`delete from job`)
  })

  test('a back office that hangs with 50 writes of one service keeps nobody of the others waiting', async () => {
    const [stuck, free, own] = [await service.tenant(), await service.tenant(), await service.tenant()]
    const hanging = await startSimulator()
    await setBackOffice(service.db, service.keys, stuck.service, settingsFor(hanging))
    await setBackOffice(service.db, service.keys, own.service, { driver: 'embedded' })
    await until(async () => (await driverOf(own)).driver === 'embedded', 'it is its own tables', 5_000)
    const isAsked = async () => {
      await driverOf(stuck)
      return hanging.ledger.calls.length > 0
    }
    await until(isAsked, 'it is asked', 5_000)
    hanging.faults.add({ kind: 'hang', path: '/Persons' })
    let answered = 0
    const writes = Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const answer = await post(stuck, '/customers', named(`stuck${i}`))
        answered++
        return answer
      }),
    )
    writes.catch(() => {})
    try {
      await until(() => hanging.ledger.callsTo({ path: '/Persons' }).length >= 4, 'it hangs', 5_000)
      const others = [free, own].flatMap(shop =>
        Array.from({ length: 10 }, (_, i) => post(shop, '/customers', named(`${shop.service.name}.${i}`))),
      )
      for (const answer of await Promise.all(others)) assert.equal(answer.status, 201, answer.text)
      // The others of the 50 wait for their turn, and that for 5 s.
      assert.ok(answered <= 45, 'they were answered while those hang')
    } finally {
      await hanging.close()
    }
    for (const answer of await writes) assert.equal(answer.status, 503, answer.text)
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

  test('set takes schedules and merchants, show tells them beside the defaults, and the audit names them', async () => {
    const set = await cli(
      ...['set', 'luma', 'every.customers=5m', 'every.stock=90s', 'gateway.pay.pal.merchantId=PAYPAL'],
      ...['gateway.pay.pal.cardType=PP', 'gateway.zip.origin=Zip'],
    )
    assert.match(set, /^luma has no payment gateway zip yet: tillbridge service set luma gateways=…$/m)
    const shown = await cli('show', 'luma')
    for (const line of [
      ...['every.customers = 5m', 'every.stock = 90s', 'every.products = 1d (default)', 'every.orders = 5m (default)'],
      ...['gateway.pay.pal.merchantId = PAYPAL', 'gateway.pay.pal.cardType = PP', 'gateway.zip.origin = Zip'],
    ])
      assert.ok(shown.split('\n').includes(line), `${line} in\n${shown}`)
    await cli('set', 'luma', 'every.stock=', 'gateway.zip.origin=', 'gateway.pay.pal.cardType=', 'every.customers=1h')
    const left = await cli('show', 'luma')
    assert.match(left, /^every\.stock = 5m \(default\)\n(.*\n)*every\.customers = 1h\n/m)
    assert.match(left, /^gateway\.pay\.pal\.merchantId = PAYPAL\n$/m)
    assert.doesNotMatch(left, /zip|cardType/)
    const client = await databaseOf(environment.DATA_DIR)
    const { rows } = await client.query(
      "select record::json->'fields' as fields from audit order by changed_at desc limit 2",
    )
    await client.end()
    assert.deepEqual(rows[1].fields, [
      ...['every.customers', 'every.stock', 'gateway.pay.pal.merchantId', 'gateway.pay.pal.cardType'],
      'gateway.zip.origin',
    ])
  })

  test('schedules out of bounds, and what gateways do not have, are refused with what is right', () => {
    for (const time of ['5', '59s', '8d', '-5m', '1w', '1.5h', 'often'])
      assert.deepEqual(choicesAmong([`every.stock=${time}`]).faults, [
        'every.stock is a time from 1m to 7d, such as 5m, 1h or 1d.',
      ])
    for (const [time, seconds] of Object.entries({ '60s': 60, '1m': 60, '12h': 43_200, '7d': 604_800 }))
      assert.deepEqual([...choicesAmong([`every.stock=${time}`]).choices.every], [['stock', seconds]])
    const unfit: [assignment: string, told: RegExp][] = [
      ['gateway.visa.colour=red', /^gateway\.visa\.colour is none of origin, merchantId, cardType, accountId\.$/],
      [
        'gateway.visa.origin=Card',
        /^gateway\.visa\.origin is one of CreditCard, DirectDebit, Zip, AdyenWallet, Openpay\.$/,
      ],
      [`gateway.visa.merchantId=${'x'.repeat(101)}`, /^gateway\.visa\.merchantId has at most 100 characters/],
    ]
    for (const [assignment, told] of unfit) assert.match(choicesAmong([assignment]).faults.join(), told)
    const twice = ['every.stock=1m', 'every.stock=2m', 'gateway.a.origin=Zip', 'gateway.a.origin=Zip']
    assert.deepEqual(choicesAmong(twice).faults, ['every.stock is set twice.', 'gateway.a.origin is set twice.'])
    assert.deepEqual(choicesAmong(['gateway.visa=x', 'url=https://a/gateway.b.c=d']).rest.length, 2)
  })

  test('set refuses a feed that there is not, and changes nothing then', async () => {
    const before = await cli('show', 'luma')
    const unknown = await failing('set', 'luma', 'every.colour=5m', 'every.stock=2m')
    assert.equal(unknown.code, 1)
    assert.match(unknown.err, /every\.colour: there is no feed colour; there are: references, stores, products, stock,/)
    const bad = await failing('set', 'luma', 'every.stock=1s', 'colour=blue', 'gateway.visa=x')
    assert.match(bad.err, /: every\.stock is a time .*\n"colour=blue" is no setting.*\n"gateway\.visa=x" is no setting/)
    assert.equal(await cli('show', 'luma'), before)
  })

  test('where no process does jobs the greeting says so, and soon the doctor', async () => {
    assert.match(
      service.out,
      /^E-mails and other jobs are done by: tillbridge worker\nUntil one runs, e-mails wait and nothing is pulled from back offices\.$/m,
    )
    const client = await databaseOf(environment.DATA_DIR)
    const asked = async () => (await client.query("select from job where name = 'plan-syncs'")).rowCount === 1
    await until(asked, 'jobs are asked for')
    await client.query("update job set due_at = now() - interval '2 minutes'")
    const { code, out } = await run(['doctor'], environment)
    assert.equal(code, 1)
    assert.match(
      out,
      /^MISSING {2}Jobs +No process does them, the oldest has been due for 12\d s: e-mails wait,.*tillbridge worker$/m,
    )
    await client.query("update job set leased_until = now() + interval '1 minute', lease = gen_random_uuid()")
    assert.match((await run(['doctor'], environment)).out, /^ok {7}Jobs /m)
    await client.end()
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

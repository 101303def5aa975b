import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { sql } from '../../../src/db.ts'
import { type Consent, consentAfter, consentChanges, noConsent } from '../../../src/domain/customers/consent.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { upsertReferences } from '../../../src/store/goods/references.ts'
import { changed, changedBeside, created, isRefused, john } from '../../support/customer-bodies.ts'
import { type Caller, startTestService, type TestService } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'

const mapping = {
  email: { type: 'newsletter', yes: '4411', no: '4412' },
  sms: { type: 'textMessages', yes: 'Y', no: 'N' },
}

let shop: TestService
/** A shop whose subscriptions stand for references. */
let mapped: Caller

const references = [
  { type: 'favouriteStore', referenceValueId: '1', code: 'CBD', name: 'Collins Street' },
  { type: 'favouriteStore', referenceValueId: '2', code: null, name: 'Bourke Street' },
  { type: 'interest', referenceValueId: '12', code: 'RUN', name: 'Running' },
  { type: 'newsletter', referenceValueId: '4411', code: 'Y', name: 'Yes, please' },
  { type: 'newsletter', referenceValueId: '4412', code: 'N', name: 'No, thank you' },
]

before(async () => {
  const settings = { writesPerMinute: 'off', readsPerMinute: 'off' } as const
  shop = await startTestService({ settings, role: 'maintainer' })
  mapped = await shop.tenant({ ...settings, subscriptionMapping: mapping })
  for (const { service } of [shop, mapped]) await upsertReferences(shop.db, service, references)
})
after(() => shop.stop())

const flagsOf = ({ privacy, emailSubscription, smsSubscription }: Consent) => [
  privacy,
  emailSubscription,
  smsSubscription,
]
const codesOf = (json: { meta?: { warnings: { code: string }[] } }) => json.meta?.warnings.map(({ code }) => code) ?? []
const unmapped = 'subscription_not_mapped'

/** The consent record of a customer: channel, old, new. */
const recorded = async (id: string, { service }: Caller = shop) =>
  (
    await shop.db.rows<{ line: string }>(sql`
      select concat_ws(' ', channel, coalesce(old_value::text, 'null'), new_value::text) as line
        from consent_change where service_id = ${service.id} and customer_id = ${id} order by change`)
  ).map(({ line }) => line)

test('subscribing overrides privacy, whatever the body says', async () => {
  for (const privacy of [true, false, null, undefined])
    for (const flags of [
      { emailSubscription: true },
      { smsSubscription: true },
      { emailSubscription: true, smsSubscription: true },
    ]) {
      const data = await created(shop, john({ ...flags, privacy }))
      assert.equal(data.privacy, false)
      const plain = await created(shop)
      assert.equal(plain.privacy, true)
      assert.equal((await changed(shop, plain.id, { ...flags, privacy })).privacy, false)
    }
})

test('without a subscription privacy is what the body says, and true where it says nothing', async () => {
  for (const [privacy, expected] of [
    [true, true],
    [false, false],
    [null, true],
    [undefined, true],
  ] as const)
    for (const emailSubscription of [false, null, undefined])
      assert.deepEqual(flagsOf(await created(shop, john({ privacy, emailSubscription }))), [expected, false, false])
  const { id } = await created(shop)
  assert.deepEqual(flagsOf(await changed(shop, id, { privacy: false })), [false, false, false])
  assert.deepEqual(flagsOf(await changed(shop, id, { title: 'Dr' })), [false, false, false])
  assert.deepEqual(flagsOf(await changed(shop, id, { privacy: true })), [true, false, false])
})

test('a subscription that stays on outranks privacy as well, and the answer says so', async () => {
  const { id } = await created(shop, john({ emailSubscription: true }))
  const refused = await put(shop, `/customers/${id}`, { privacy: true })
  assert.equal(refused.status, 200)
  assert.deepEqual(flagsOf(refused.json.data), [false, true, false])
  assert.deepEqual(codesOf(refused.json), ['privacy_overridden'])
  // Who wants no marketing at all says so of the subscription, too.
  const left = await put(shop, `/customers/${id}`, { privacy: true, emailSubscription: false })
  assert.deepEqual([flagsOf(left.json.data), codesOf(left.json)], [[true, false, false], [unmapped]])
})

test('ending a subscription leaves privacy as it was', async () => {
  const { id } = await created(shop, john({ emailSubscription: true, smsSubscription: true }))
  assert.deepEqual(flagsOf(await changed(shop, id, { emailSubscription: false })), [false, false, true])
  assert.deepEqual(flagsOf(await changed(shop, id, { smsSubscription: null })), [false, false, false])
})

const flag = fc.option(fc.boolean(), { nil: null })
const said = fc.record({ privacy: flag, emailSubscription: flag, smsSubscription: flag }, { requiredKeys: [] })

test('for any consent and any request, what is said is done, and no subscription goes with privacy', () => {
  const consent = fc
    .record({ privacy: fc.boolean(), emailSubscription: fc.boolean(), smsSubscription: fc.boolean() })
    .map(each => ({ ...each, privacy: each.privacy && !each.emailSubscription && !each.smsSubscription }))
  fc.assert(
    fc.property(consent, said, (before, request) => {
      const after = consentAfter(before, request)
      for (const name of ['emailSubscription', 'smsSubscription'] as const)
        assert.equal(after[name], request[name] === undefined ? before[name] : (request[name] ?? false))
      const subscribed = after.emailSubscription || after.smsSubscription
      const privacy = request.privacy === undefined ? before.privacy : (request.privacy ?? true)
      assert.equal(after.privacy, subscribed ? false : privacy)
      assert.deepEqual(consentAfter(after, request), after, 'to say it again changes nothing')
      assert.deepEqual(consentChanges(after, after), [])
      assert.equal(consentChanges(undefined, after).length, 3)
      const changes = consentChanges(before, after)
      for (const change of changes) assert.notEqual(change.old, change.new)
      assert.equal(changes.length, flagsOf(before).filter((value, i) => value !== flagsOf(after)[i]).length)
    }),
    { numRuns: 500 },
  )
})

test('whatever is asked for one after the other, the record of consent leads to what is stored', async () => {
  await fc.assert(
    fc.asyncProperty(said, fc.array(said, { maxLength: 4 }), async (first, more) => {
      let consent: Consent = consentAfter(noConsent, first)
      const { id, ...data } = await created(shop, john(first))
      assert.deepEqual(flagsOf(data), flagsOf(consent))
      for (const request of more) {
        consent = consentAfter(consent, request)
        assert.deepEqual(flagsOf(await changed(shop, id, request)), flagsOf(consent))
      }
      const lines = (await recorded(id)).map(line => line.split(' '))
      const last = Object.fromEntries(lines.map(([channel, , value]) => [channel, value === 'true']))
      assert.deepEqual(last, {
        marketing: !consent.privacy,
        email: consent.emailSubscription,
        sms: consent.smsSubscription,
      })
      // Each line begins where the one before it ended.
      for (const channel of ['marketing', 'email', 'sms']) {
        const mine = lines.filter(([name]) => name === channel)
        assert.deepEqual(
          mine.map(([, old]) => old),
          ['null', ...mine.slice(0, -1).map(([, , value]) => value)],
        )
      }
    }),
    { numRuns: 40 },
  )
})

test('each change of consent is recorded with who, when and in which request', async () => {
  const headers = { 'x-request-id': 'sign-up-7' }
  const { data } = (await post(shop, '/customers', john({ emailSubscription: true }), headers)).json
  assert.deepEqual(await recorded(data.id), ['marketing null true', 'email null true', 'sms null false'])
  await changed(shop, data.id, { title: 'Dr', emailSubscription: true })
  const other = await shop.account('maintainer')
  await put(other, `/customers/${data.id}`, { emailSubscription: false, privacy: true }, { 'x-request-id': 'left-8' })
  assert.deepEqual((await recorded(data.id)).slice(3), ['marketing true false', 'email true false'])
  const lines = await shop.db.rows<{ username: string; request_id: string; ago: number }>(sql`
    select username, request_id, extract(epoch from now() - at)::float as ago from consent_change where customer_id = ${data.id} order by change`)
  const by = (username: string, id: string) => ({ username, request_id: id })
  assert.deepEqual(
    lines.map(({ ago, ...line }) => line),
    [
      ...Array.from({ length: 3 }, () => by(shop.username, 'sign-up-7')),
      by(other.username, 'left-8'),
      by(other.username, 'left-8'),
    ],
  )
  for (const { ago } of lines) assert.ok(ago >= 0 && ago < 60, String(ago))
})

test('a request that is refused or repeated records no consent', async () => {
  const key = { 'idempotency-key': 'consent-1' }
  const body = john({ smsSubscription: true })
  const { id } = (await post(shop, '/customers', body, key)).json.data
  await post(shop, '/customers', body, key)
  assert.equal((await recorded(id)).length, 3)
  const late = { smsSubscription: false, dateOfBirth: '1066-10-14' }
  isRefused(shop, await put(shop, `/customers/${id}`, late), 'invalid_field', '/dateOfBirth')
  assert.equal((await recorded(id)).length, 3)
  const total = async () =>
    (await shop.db.row<{ n: number }>(sql`select count(*)::integer as n from consent_change`))?.n
  const before = await total()
  isRefused(shop, await post(shop, '/customers', { ...john(), contact: body.contact }), 'email_taken', '/contact/email')
  assert.equal(await total(), before)
})

test('opposite changes of consent at once are recorded as they came', async () => {
  const { id } = await created(shop)
  await Promise.all(Array.from({ length: 12 }, (_, i) => changed(shop, id, { smsSubscription: i % 2 === 0 })))
  const lines = (await recorded(id)).filter(line => line.startsWith('sms')).slice(1)
  for (const [i, line] of lines.entries()) assert.equal(line, i % 2 ? 'sms true false' : 'sms false true')
  const { data } = (await shop.get(`/customers/${id}`)).json
  assert.equal(data.smsSubscription, lines.at(-1) === 'sms false true')
})

test('the record of consent is only ever added to, and goes with its service', async () => {
  const other = await shop.tenant()
  const { id } = await created(other, john({ emailSubscription: true }))
  const mine = sql`service_id = ${other.service.id}`
  await assert.rejects(shop.db.run(sql`update consent_change set new_value = false where ${mine}`), /append-only/)
  await assert.rejects(shop.db.run(sql`delete from consent_change where ${mine}`), /append-only/)
  // A customer that goes leaves behind what was agreed.
  await shop.db.run(sql`delete from customer where ${mine}`)
  assert.equal((await recorded(id, other)).length, 3)
  await shop.db.run(sql`delete from service where ${mine}`)
  assert.deepEqual(await recorded(id, other), [])
})

test('without a mapping the answer warns of each flag that was mentioned', async () => {
  const answer = await post(shop, '/customers', john({ emailSubscription: true, smsSubscription: false }))
  assert.deepEqual(codesOf(answer.json), [unmapped, unmapped])
  assert.deepEqual(answer.json.data.references, {})
  const [first, second] = answer.json.meta.warnings
  assert.match(first.detail, /`emailSubscription`/)
  assert.match(second.detail, /`smsSubscription`/)
  const path = `/customers/${answer.json.data.id}`
  assert.equal((await put(shop, path, { title: 'Dr' })).json.meta, undefined)
  assert.deepEqual(codesOf((await put(shop, path, { smsSubscription: false })).json), [unmapped])
  const half = await shop.tenant({ subscriptionMapping: { email: mapping.email } })
  const both = await post(half, '/customers', john({ emailSubscription: true, smsSubscription: true }))
  assert.deepEqual(codesOf(both.json), [unmapped])
  assert.equal(both.json.data.references.newsletter.referenceValueId, '4411')
})

test('a warning is not part of the record: its tag is that of the record that is read', async () => {
  const answer = await post(shop, '/customers', john({ emailSubscription: true }))
  const read = await shop.get(`/customers/${answer.json.data.id}`)
  assert.deepEqual(
    [read.headers.etag, read.json.data, read.json.meta],
    [answer.headers.etag, answer.json.data, undefined],
  )
})

test('with a mapping a subscription sets its reference in the same change', async () => {
  const answer = await post(mapped, '/customers', john({ emailSubscription: true, references: { interest: '12' } }))
  const { id, references } = answer.json.data
  assert.deepEqual(codesOf(answer.json), [])
  const interest = { code: 'RUN', name: 'Running', referenceValueId: '12' }
  assert.deepEqual(references, { interest, newsletter: { code: 'Y', name: 'Yes, please', referenceValueId: '4411' } })
  const ended = await changed(mapped, id, { emailSubscription: false })
  const newsletter = { code: 'N', name: 'No, thank you', referenceValueId: '4412' }
  assert.deepEqual(ended.references, { interest, newsletter })
  // The cache may not know the value yet: it is there all the same.
  const texted = await changed(mapped, id, { smsSubscription: true })
  const textMessages = { code: null, name: null, referenceValueId: 'Y' }
  assert.deepEqual(texted.references, { interest, newsletter, textMessages })
  assert.deepEqual((await changed(mapped, id, { title: 'Dr' })).references, texted.references)
})

test('a reference that stands for a subscription follows its flag', async () => {
  const { id } = await created(mapped, john({ emailSubscription: true, references: { newsletter: '4411' } }))
  const path = `/customers/${id}`
  const place = '/references/newsletter'
  for (const change of [
    { references: { newsletter: '4412' } },
    { references: { newsletter: null } },
    { emailSubscription: true, references: { newsletter: '4412' } },
    { emailSubscription: false, references: { newsletter: '4411' } },
    { emailSubscription: null, references: { newsletter: null } },
  ]) {
    const answer = await put(mapped, path, change)
    isRefused(shop, answer, 'invalid_field', place)
    assert.match(answer.json.detail, /`emailSubscription`/)
  }
  isRefused(
    shop,
    await post(mapped, '/customers', john({ references: { newsletter: '4411' } })),
    'invalid_field',
    place,
  )
  for (const change of [
    { references: { newsletter: '4411' } },
    { emailSubscription: true, references: { newsletter: '4411' } },
    { emailSubscription: false, references: { newsletter: '4412' } },
  ])
    await changed(mapped, id, change)
  assert.equal((await changed(mapped, id, { references: null })).references.newsletter.referenceValueId, '4412')
})

test('an imported reference that the flag does not agree with may be sent back as it is, or be put right', async () => {
  const row = { id: 'astray', firstname: 'Ann', emailSubscription: false, referenceValues: { newsletter: '4411' } }
  await upsertCustomers(shop.db, mapped.service, [row])
  const same = await changed(mapped, 'astray', { references: { newsletter: '4411' } })
  assert.deepEqual([same.emailSubscription, same.references.newsletter.referenceValueId], [false, '4411'])
  const right = await changed(mapped, 'astray', { references: { newsletter: '4412' } })
  assert.deepEqual([right.emailSubscription, right.references.newsletter.referenceValueId], [false, '4412'])
})

test('a reference is given by its value, or as answers have it', async () => {
  const collins = { code: 'CBD', name: 'Collins Street', referenceValueId: '1' }
  const bourke = { code: null, name: 'Bourke Street', referenceValueId: '2' }
  const { id } = await created(shop, john({ references: { favouriteStore: '1', interest: null } }))
  const steps: [object | null, object][] = [
    [{}, { favouriteStore: collins }],
    [{ favouriteStore: { referenceValueId: '2' } }, { favouriteStore: bourke }],
    [{ favouriteStore: collins }, { favouriteStore: collins }],
    [
      { favouriteStore: bourke, interest: '12' },
      { favouriteStore: bourke, interest: { code: 'RUN', name: 'Running', referenceValueId: '12' } },
    ],
    [{ interest: null }, { favouriteStore: bourke }],
    [{ interest: null, unknown: null }, { favouriteStore: bourke }],
    [null, {}],
  ]
  for (const [given, expected] of steps)
    assert.deepEqual((await changed(shop, id, { references: given })).references, expected, JSON.stringify(given))
})

test('a reference has to be one that the cache knows', async () => {
  const { id } = await created(shop)
  const path = `/customers/${id}`
  const cases: [object, string][] = [
    [{ favouriteStore: '9' }, '/references/favouriteStore'],
    [{ favouriteStore: '12' }, '/references/favouriteStore'],
    [{ nope: '1' }, '/references/nope'],
    [{ 'a/b~c': '1' }, '/references/a~1b~0c'],
    [{ '\u0000': '1' }, '/references/\u0000'],
    [{ '\ud800': null }, '/references/\ud800'],
    [{ ['x'.repeat(101)]: '1' }, `/references/${'x'.repeat(101)}`],
    [{ constructor: '1' }, '/references/constructor'],
    [{ favouriteStore: { referenceValueId: '1', code: 'XYZ' } }, '/references/favouriteStore/code'],
    [{ favouriteStore: { referenceValueId: '2', code: 'CBD' } }, '/references/favouriteStore/code'],
    [{ favouriteStore: { referenceValueId: '1', name: null } }, '/references/favouriteStore/name'],
    [{ favouriteStore: '' }, '/references/favouriteStore'],
    [Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`type${i}`, '1'])), '/references'],
  ]
  for (const [given, place] of cases)
    isRefused(shop, await put(shop, path, { references: given }), 'invalid_field', place)
  isRefused(shop, await put(shop, path, '{"references":{"__proto__":"1"}}'), 'invalid_field', '/references/__proto__')
  const many = { dateOfBirth: '1066-10-14', references: { favouriteStore: '9', interest: '13' } }
  const places = ['/dateOfBirth', '/references/favouriteStore', '/references/interest']
  isRefused(shop, await put(shop, path, many), 'invalid_field', ...places)
  isRefused(shop, await post(shop, '/customers', john(many)), 'invalid_field', ...places)
  assert.deepEqual((await shop.get(path)).json.data.references, {})
})

test("another service's references are not known", async () => {
  const other = await shop.tenant()
  const answer = await post(other, '/customers', john({ references: { favouriteStore: '1' } }))
  isRefused(shop, answer, 'invalid_field', '/references/favouriteStore')
})

test('a service can say which references a customer may be given', async () => {
  const few = await shop.tenant({ referenceTypes: ['interest'] })
  await upsertReferences(shop.db, few.service, references)
  await upsertCustomers(shop.db, few.service, [
    { id: 'old', firstname: 'Ann', referenceValues: { favouriteStore: '1', gone: '7' } },
  ])
  assert.ok((await changed(few, 'old', { references: { interest: '12' } })).references.interest)
  isRefused(
    shop,
    await put(few, '/customers/old', { references: { favouriteStore: '2' } }),
    'invalid_field',
    '/references/favouriteStore',
  )
  // What was there before may stay, also where the cache does not know it.
  const { references: stored } = (await few.get('/customers/old')).json.data
  assert.deepEqual((await changed(few, 'old', { references: stored })).references, stored)
  assert.deepEqual(Object.keys((await changed(few, 'old', { references: { favouriteStore: null } })).references), [
    'gone',
    'interest',
  ])
})

test('a value that is renamed while a customer is given it shows its new name', async () => {
  const { id } = await created(shop)
  const value = { type: 'interest', referenceValueId: '12', name: 'Trail running' }
  const rename = () => upsertReferences(shop.db, shop.service, [value])
  const { references } = await changedBeside(shop, id, { references: { interest: '12' } }, rename)
  assert.equal(references.interest.name, 'Trail running')
})

test('a value that is renamed while its customer is changed loses nothing of the change', async () => {
  const { id } = await created(shop, john({ references: { favouriteStore: '2' } }))
  const value = { type: 'favouriteStore', referenceValueId: '2', name: 'Bourke St' }
  const rename = () => upsertReferences(shop.db, shop.service, [value])
  const { surname, references } = await changedBeside(shop, id, { surname: 'Changed' }, rename)
  assert.deepEqual([surname, references.favouriteStore.name], ['Changed', 'Bourke St'])
})

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { sql } from '../../../src/database/db.ts'
import { applyConsent, type Consent, getConsentChanges, noConsent } from '../../../src/domain/customers/consent.ts'
import { lockService, startPurge } from '../../../src/store/service-deletion/deletion.ts'
import { purgeRows } from '../../../src/store/service-deletion/purge.ts'
import {
  assertRejected,
  buildCustomer,
  createCustomer,
  getWarningCodes,
  startCustomerShop,
  updateCustomer,
} from '../../support/customer-bodies.ts'
import type { Caller } from '../../support/service.ts'
import { post, put } from '../../support/write.ts'

const api = await startCustomerShop()
after(() => api.stop())

const getFlags = ({ privacy, emailSubscription, smsSubscription }: Consent) => [
  privacy,
  emailSubscription,
  smsSubscription,
]

const unmapped = 'subscription_not_mapped'

/** Lists the consent changes of a customer as `channel old new`, oldest first. */
const listConsentChanges = async (id: string, { service }: Caller = api) =>
  (
    await api.db.rows<{ line: string }>(sql`
      select concat_ws(' ', channel, coalesce(old_value::text, 'null'), new_value::text) as line
        from consent_change where service_id = ${service.id} and customer_id = ${id} order by change_number`)
  ).map(({ line }) => line)

test('a new subscription overrides privacy, whatever the body contains', async () => {
  for (const privacy of [true, false, null, undefined])
    for (const flags of [
      { emailSubscription: true },
      { smsSubscription: true },
      { emailSubscription: true, smsSubscription: true },
    ]) {
      const data = await createCustomer(api, buildCustomer({ ...flags, privacy }))
      assert.equal(data.privacy, false)
      const plain = await createCustomer(api)
      assert.equal(plain.privacy, true)
      assert.equal((await updateCustomer(api, plain.id, { ...flags, privacy })).privacy, false)
    }
})

test('privacy follows the body without a subscription and defaults to true', async () => {
  for (const [privacy, expected] of [
    [true, true],
    [false, false],
    [null, true],
    [undefined, true],
  ] as const)
    for (const emailSubscription of [false, null, undefined])
      assert.deepEqual(getFlags(await createCustomer(api, buildCustomer({ privacy, emailSubscription }))), [
        expected,
        false,
        false,
      ])
  const { id } = await createCustomer(api)
  assert.deepEqual(getFlags(await updateCustomer(api, id, { privacy: false })), [false, false, false])
  assert.deepEqual(getFlags(await updateCustomer(api, id, { title: 'Dr' })), [false, false, false])
  assert.deepEqual(getFlags(await updateCustomer(api, id, { privacy: true })), [true, false, false])
})

test('privacy ends both subscriptions in the response and the consent record', async () => {
  for (const privacy of [true, null]) {
    const { id } = await createCustomer(api, buildCustomer({ emailSubscription: true, smsSubscription: true }))
    const response = await put(api, `/customers/${id}`, { privacy })
    assert.equal(response.status, 200)
    assert.deepEqual(getFlags(response.json.data), [true, false, false])
    assert.deepEqual(getWarningCodes(response.json), ['subscriptions_ended'])
    assert.match(response.json.meta.warnings[0].detail, /`emailSubscription` and `smsSubscription`/)
    assert.deepEqual((await listConsentChanges(id)).slice(3), [
      'marketing true false',
      'email true false',
      'sms true false',
    ])
  }
})

test('a subscription ended by the request causes no warning', async () => {
  const { id } = await createCustomer(api, buildCustomer({ emailSubscription: true, smsSubscription: true }))
  const body = { privacy: true, emailSubscription: false }
  const response = await put(api, `/customers/${id}`, body)
  assert.deepEqual(getFlags(response.json.data), [true, false, false])
  assert.deepEqual(getWarningCodes(response.json), [unmapped, 'subscriptions_ended'])
  assert.doesNotMatch(response.json.meta.warnings[1].detail, /emailSubscription/)
  await updateCustomer(api, id, { smsSubscription: true })
  const overridden = await put(api, `/customers/${id}`, { privacy: true, emailSubscription: true })
  assert.deepEqual(getFlags(overridden.json.data), [false, true, true])
  assert.deepEqual(getWarningCodes(overridden.json), [unmapped, 'privacy_overridden'])
})

test('ending a subscription does not change privacy', async () => {
  const { id } = await createCustomer(api, buildCustomer({ emailSubscription: true, smsSubscription: true }))
  assert.deepEqual(getFlags(await updateCustomer(api, id, { emailSubscription: false })), [false, false, true])
  assert.deepEqual(getFlags(await updateCustomer(api, id, { smsSubscription: null })), [false, false, false])
})

const flag = fc.option(fc.boolean(), { nil: null })

const consentRequest = fc.record(
  { privacy: flag, emailSubscription: flag, smsSubscription: flag },
  { requiredKeys: [] },
)

test('any consent request is applied and never combines subscription with privacy', () => {
  const consent = fc
    .record({ privacy: fc.boolean(), emailSubscription: fc.boolean(), smsSubscription: fc.boolean() })
    .map(flags => ({ ...flags, privacy: flags.privacy && !flags.emailSubscription && !flags.smsSubscription }))
  fc.assert(
    fc.property(consent, consentRequest, (before, request) => {
      const updated = applyConsent(before, request)
      const expected = request.privacy === true || request.privacy === null
      const ends = expected && !request.emailSubscription && !request.smsSubscription
      for (const name of ['emailSubscription', 'smsSubscription'] as const)
        assert.equal(updated[name], request[name] === undefined ? before[name] && !ends : (request[name] ?? false))
      const subscribed = updated.emailSubscription || updated.smsSubscription
      const privacy = request.privacy === undefined ? before.privacy : (request.privacy ?? true)
      assert.equal(updated.privacy, subscribed ? false : privacy)
      assert.deepEqual(applyConsent(updated, request), updated, 'repeating a request must change nothing')
      assert.deepEqual(getConsentChanges(updated, updated), [])
      assert.equal(getConsentChanges(undefined, updated).length, 3)
      const changes = getConsentChanges(before, updated)
      for (const change of changes) assert.notEqual(change.old, change.new)
      assert.equal(changes.length, getFlags(before).filter((value, i) => value !== getFlags(updated)[i]).length)
    }),
    { numRuns: 500 },
  )
})

test('the consent record always leads to the stored state', async () => {
  await fc.assert(
    fc.asyncProperty(consentRequest, fc.array(consentRequest, { maxLength: 4 }), async (first, more) => {
      let consent: Consent = applyConsent(noConsent, first)
      const { id, ...data } = await createCustomer(api, buildCustomer(first))
      assert.deepEqual(getFlags(data), getFlags(consent))
      for (const request of more) {
        consent = applyConsent(consent, request)
        assert.deepEqual(getFlags(await updateCustomer(api, id, request)), getFlags(consent))
      }
      const lines = (await listConsentChanges(id)).map(line => line.split(' '))
      const last = Object.fromEntries(lines.map(([channel, , value]) => [channel, value === 'true']))
      assert.deepEqual(last, {
        marketing: !consent.privacy,
        email: consent.emailSubscription,
        sms: consent.smsSubscription,
      })
      // Each change starts from the value of the previous one.
      for (const channel of ['marketing', 'email', 'sms']) {
        const matching = lines.filter(([name]) => name === channel)
        assert.deepEqual(
          matching.map(([, old]) => old),
          ['null', ...matching.slice(0, -1).map(([, , value]) => value)],
        )
      }
    }),
    { numRuns: 40 },
  )
})

test('each consent change is recorded with account, time and request', async () => {
  const headers = { 'x-request-id': 'sign-up-7' }
  const { data } = (await post(api, '/customers', buildCustomer({ emailSubscription: true }), headers)).json
  assert.deepEqual(await listConsentChanges(data.id), ['marketing null true', 'email null true', 'sms null false'])
  await updateCustomer(api, data.id, { title: 'Dr', emailSubscription: true })
  const other = await api.createAccount('maintainer')
  await put(other, `/customers/${data.id}`, { emailSubscription: false, privacy: true }, { 'x-request-id': 'left-8' })
  assert.deepEqual((await listConsentChanges(data.id)).slice(3), ['marketing true false', 'email true false'])
  const lines = await api.db.rows<{ username: string; request_id: string; ago: number }>(sql`
    select username, request_id, extract(epoch from now() - changed_at)::float as ago from consent_change where customer_id = ${data.id} order by change_number`)
  const toActor = (username: string, id: string) => ({ username, request_id: id })
  assert.deepEqual(
    lines.map(({ ago, ...line }) => line),
    [
      ...Array.from({ length: 3 }, () => toActor(api.username, 'sign-up-7')),
      toActor(other.username, 'left-8'),
      toActor(other.username, 'left-8'),
    ],
  )
  for (const { ago } of lines) assert.ok(ago >= 0 && ago < 60, String(ago))
})

test('a rejected or repeated request records no consent change', async () => {
  const key = { 'idempotency-key': 'consent-1' }
  const body = buildCustomer({ smsSubscription: true })
  const { id } = (await post(api, '/customers', body, key)).json.data
  await post(api, '/customers', body, key)
  assert.equal((await listConsentChanges(id)).length, 3)
  const late = { smsSubscription: false, dateOfBirth: '1066-10-14' }
  assertRejected(api, await put(api, `/customers/${id}`, late), 'invalid_field', '/dateOfBirth')
  assert.equal((await listConsentChanges(id)).length, 3)
  const countConsentChanges = async () =>
    (await api.db.row<{ n: number }>(sql`select count(*)::integer as n from consent_change`))?.n
  const before = await countConsentChanges()
  assertRejected(
    api,
    await post(api, '/customers', { ...buildCustomer(), contact: body.contact }),
    'email_taken',
    '/contact/email',
  )
  assert.equal(await countConsentChanges(), before)
})

test('opposite concurrent consent changes are recorded in order', async () => {
  const { id } = await createCustomer(api)
  await Promise.all(Array.from({ length: 12 }, (_, i) => updateCustomer(api, id, { smsSubscription: i % 2 === 0 })))
  const lines = (await listConsentChanges(id)).filter(line => line.startsWith('sms')).slice(1)
  for (const [i, line] of lines.entries()) assert.equal(line, i % 2 ? 'sms true false' : 'sms false true')
  const { data } = (await api.get(`/customers/${id}`)).json
  assert.equal(data.smsSubscription, lines.at(-1) === 'sms false true')
})

test('the consent record is append-only and is deleted with its service', async () => {
  const other = await api.createService()
  const { id } = await createCustomer(other, buildCustomer({ emailSubscription: true }))
  const isOfOther = sql`service_id = ${other.service.id}`
  await assert.rejects(api.db.run(sql`update consent_change set new_value = false where ${isOfOther}`), /append-only/)
  await assert.rejects(api.db.run(sql`delete from consent_change where ${isOfOther}`), /append-only/)
  // Deleting a customer keeps the consent record.
  await api.db.run(sql`delete from customer where ${isOfOther}`)
  assert.equal((await listConsentChanges(id, other)).length, 3)
  await lockService(api.db, other.service)
  await startPurge(api.db, other.service)
  await purgeRows(api.db, other.service, () => {}, AbortSignal.timeout(60_000))
  assert.deepEqual(await listConsentChanges(id, other), [])
})

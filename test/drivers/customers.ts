import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAtLeast } from '../../src/domain/values/release.ts'
import {
  assertRejected,
  buildCustomer,
  createCustomer,
  getWarningCodes,
  newEmail,
  updateCustomer,
} from '../support/customer-bodies.ts'
import { assertProblem } from '../support/problem.ts'
import { post, put, retryUntilUncontended } from '../support/write.ts'
import type { Shop } from './shop.ts'

/** Contract of customers, the same for every driver. */
export function addCustomerContract(shop: () => Shop) {
  test('a created customer is found by identifier, email and change time', async () => {
    const { api } = shop()
    const before = (await api.get('/customers/search?limit=1')).json.meta.asOf
    const email = newEmail()
    const response = await post(api, '/customers', {
      ...buildCustomer({ contact: { email, phones: { home: '0400 000 001' } } }),
      dateOfBirth: '1980-02-29',
      address: { addressLine1: '111 Collins St', city: 'Melbourne', country: 'Australia' },
    })
    assert.equal(response.status, 201, response.text)
    const { data } = response.json
    assert.equal(response.headers.location, `/customers/${data.id}`)
    assert.deepEqual([data.firstname, data.surname, data.dateOfBirth], ['John', 'Smith', '1980-02-29'])
    assert.deepEqual([data.contact.email, data.contact.phones.home], [email, '0400 000 001'])
    assert.deepEqual([data.address.addressLine1, data.address.postcode], ['111 Collins St', null])
    assert.match(data.updateTimeStamp, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    assert.deepEqual((await api.get(`/customers/${data.id}`)).json.data, data)
    assert.deepEqual((await api.get(`/customers?email=${email.toUpperCase()}`)).json.data, [data])
    const customers = (await api.get(`/customers/search?updated_after=${before}`)).json.data
    assert.deepEqual(
      customers.map(({ id }: { id: string }) => id),
      [data.id],
    )
  })

  test('an email belongs to one customer in any case, even under concurrency', async () => {
    const { api } = shop()
    const { contact } = await createCustomer(api)
    assertProblem(
      await post(api, '/customers', buildCustomer({ contact: { email: contact.email.toUpperCase() } })),
      'email_taken',
      api.baseUrl,
    )
    const other = await createCustomer(api)
    assertProblem(
      await put(api, `/customers/${other.id}`, { contact: { email: contact.email } }),
      'email_taken',
      api.baseUrl,
    )
    const email = newEmail()
    const responses = await Promise.all(
      Array.from({ length: 5 }, () =>
        retryUntilUncontended(() => post(api, '/customers', buildCustomer({ contact: { email } }))),
      ),
    )
    assert.equal(responses.filter(({ status }) => status === 201).length, 1)
    for (const response of responses) if (response.status !== 201) assertProblem(response, 'email_taken', api.baseUrl)
  })

  test('a repeat with its key returns the same customer', async () => {
    const { api } = shop()
    const body = buildCustomer()
    const key = { 'idempotency-key': `customer-${shop().release}-${shop().driver}` }
    const first = await post(api, '/customers', body, key)
    const replay = await post(api, '/customers', body, key)
    assert.equal(replay.headers['idempotent-replayed'], 'true')
    assert.equal(replay.text, first.text)
  })

  test('a change keeps omitted fields and null clears', async () => {
    const { api } = shop()
    const before = await createCustomer(
      api,
      buildCustomer({
        title: 'Mr',
        mobile: '0400 000 002',
        dateOfBirth: '1980-02-29',
        address: { city: 'Melbourne', state: 'VIC' },
      }),
    )
    const after = await updateCustomer(api, before.id, { surname: 'Smythe', title: null, address: { state: null } })
    const { updateTimeStamp: _, ...fields } = before
    const { updateTimeStamp: __, ...now } = after
    assert.deepEqual(now, { ...fields, surname: 'Smythe', title: null, address: { ...before.address, state: null } })
    assert.deepEqual((await api.get(`/customers/${before.id}`)).json.data, after)
  })

  test('e-commerce identifiers are stored here and never sent to a back office', async () => {
    const { api, simulator, release } = shop()
    const maintainer = await api.createAccount('maintainer')
    const getPlatformIds = ({ ecommerceAdminId, ecommerceLegacyId }: Record<string, unknown>) => [
      ecommerceAdminId,
      ecommerceLegacyId,
    ]
    const { id, ...created } = await createCustomer(
      maintainer,
      buildCustomer({ ecommerceAdminId: 'gid://shop/Customer/1' }),
    )
    assert.deepEqual(getPlatformIds(created), ['gid://shop/Customer/1', null])
    const countWrites = () => simulator.ledger.calls.filter(({ method }) => method !== 'GET').length
    const before = countWrites()
    // Fields that writes don't change can be returned as well.
    const { code, startDate } = created
    assert.deepEqual(
      getPlatformIds(await updateCustomer(maintainer, id, { id, code, startDate, ecommerceLegacyId: '1' })),
      ['gid://shop/Customer/1', '1'],
    )
    assert.equal(countWrites(), before)
    assert.deepEqual(getPlatformIds(await updateCustomer(maintainer, id, { title: 'Dr' })), [
      'gid://shop/Customer/1',
      '1',
    ])
    assert.deepEqual(getPlatformIds((await api.get(`/customers/${id}`)).json.data), ['gid://shop/Customer/1', '1'])
    if (isAtLeast(release, '2022.1')) {
      const since = (await api.get('/customers/search?limit=1')).json.meta.asOf
      await updateCustomer(maintainer, id, { title: 'Ms', ecommerceLegacyId: '2' })
      const [listed] = (await api.get(`/customers?updated_after=${since}`)).json.data
      assert.deepEqual([listed.id, ...getPlatformIds(listed)], [id, undefined, undefined])
    }
    const cleared = await updateCustomer(maintainer, id, { ecommerceAdminId: null, ecommerceLegacyId: '' })
    assert.deepEqual(getPlatformIds(cleared), [null, null])
  })

  test('a customer can be sent back as read, except read-only fields', async () => {
    const { api } = shop()
    const { id } = await createCustomer(api, buildCustomer({ mobile: '0400 000 005', emailSubscription: true }))
    const { updateTimeStamp: _, ...record } = (await api.get(`/customers/${id}`)).json.data
    const { phones, ...contact } = record.contact
    const edited = { ...record, surname: 'Smythe', contact: { ...contact, phones: { ...phones, mobile: '' } } }
    const { updateTimeStamp: __, ...after } = await updateCustomer(api, id, edited)
    assert.deepEqual(after, { ...edited, contact: { ...contact, phones: { ...phones, mobile: null } } })
    const other = { startDate: '2001-01-01 00:00:00', loyaltyCode: 'x', id: '1' }
    assertRejected(api, await put(api, `/customers/${id}`, other), 'invalid_body', '/id', '/startDate', '/loyaltyCode')
  })

  test('two concurrent changes are both stored', async () => {
    const { api } = shop()
    const { id } = await createCustomer(api)
    await Promise.all([
      updateCustomer(api, id, { firstname: 'Jo' }),
      updateCustomer(api, id, { mobile: '0400 000 003' }),
    ])
    const { data } = (await api.get(`/customers/${id}`)).json
    assert.deepEqual([data.firstname, data.contact.phones.mobile], ['Jo', '0400 000 003'])
  })

  test('a stale If-Match, read-only or unknown fields and customers are rejected', async () => {
    const { api } = shop()
    const { id } = await createCustomer(api)
    const { headers } = await api.get(`/customers/${id}`)
    const match = { 'if-match': String(headers.etag) }
    assert.equal((await put(api, `/customers/${id}`, { title: 'Dr' }, match)).status, 200)
    assertProblem(await put(api, `/customers/${id}`, { title: 'Ms' }, match), 'precondition_failed', api.baseUrl)
    assertRejected(
      api,
      await put(api, `/customers/${id}`, { updateTimeStamp: '2024-01-01 00:00:00' }),
      'invalid_body',
      '/updateTimeStamp',
    )
    assertRejected(api, await put(api, `/customers/${id}`, { shoeSize: 9 }), 'invalid_body', '/shoeSize')
    assertRejected(api, await post(api, '/customers', { firstname: 'John' }), 'invalid_body', '/surname', '/contact')
    assertProblem(await put(api, '/customers/999999', { title: 'Ms' }), 'not_found', api.baseUrl)
    assertProblem(await put(api, '/customers/..%2F1', { title: 'Ms' }), 'not_found', api.baseUrl)
    assert.equal((await api.get(`/customers/${id}`)).json.data.title, 'Dr')
  })

  test('a subscription is consent, overrides privacy and sets its reference', async () => {
    const { api } = shop()
    const response = await post(
      api,
      '/customers',
      buildCustomer({ privacy: true, emailSubscription: true, smsSubscription: false }),
    )
    assert.equal(response.status, 201, response.text)
    const { data, meta } = response.json
    assert.deepEqual([data.privacy, data.emailSubscription, data.smsSubscription], [false, true, false])
    assert.equal(data.references.eMailOptIn.referenceValueId, '4421')
    const codes = meta.warnings.map(({ code }: { code: string }) => code).sort()
    assert.deepEqual(codes, ['privacy_overridden', 'subscription_not_mapped'])
    const after = await updateCustomer(api, data.id, { emailSubscription: false })
    assert.deepEqual([after.privacy, after.references.eMailOptIn.referenceValueId], [false, '4422'])
    const withPrivacy = await updateCustomer(api, data.id, { privacy: true })
    assert.deepEqual([withPrivacy.privacy, withPrivacy.emailSubscription], [true, false])
    const afterwards = await api.get(`/customers/${data.id}`)
    assert.deepEqual(afterwards.json.data, withPrivacy)
  })

  test('privacy ends both subscriptions and their reference unless the request subscribes', async () => {
    const { api } = shop()
    const { id } = await createCustomer(api, buildCustomer({ emailSubscription: true, smsSubscription: true }))
    const response = await put(api, `/customers/${id}`, { privacy: true })
    assert.equal(response.status, 200, response.text)
    const { data } = response.json
    assert.deepEqual([data.privacy, data.emailSubscription, data.smsSubscription], [true, false, false])
    assert.equal(data.references.eMailOptIn.referenceValueId, '4422')
    assert.deepEqual(getWarningCodes(response.json), ['subscriptions_ended'])
    assert.deepEqual((await api.get(`/customers/${id}`)).json.data, data)
    const again = await put(api, `/customers/${id}`, { privacy: true })
    assert.deepEqual([again.status, getWarningCodes(again.json)], [200, []])
    const back = await put(api, `/customers/${id}`, { privacy: true, emailSubscription: true })
    assert.deepEqual([back.json.data.privacy, back.json.data.emailSubscription], [false, true])
    assert.equal(back.json.data.references.eMailOptIn.referenceValueId, '4421')
    assert.deepEqual(getWarningCodes(back.json), ['privacy_overridden'])
  })

  test('changed customers are listed from version 2022.1, before with a warning', async () => {
    const { api, release } = shop()
    const before = (await api.get('/customers/search?limit=1')).json.meta.asOf
    const { id } = await createCustomer(api)
    const { status, json } = await api.get(`/customers?updated_after=${before}`)
    assert.equal(status, 200)
    const strict = await api.get(`/customers?updated_after=${before}`, { prefer: 'handling=strict' })
    if (isAtLeast(release, '2022.1')) {
      assert.deepEqual(
        json.data.map((customer: { id: string }) => customer.id),
        [id],
      )
      for (const name of ['ecommerceAdminId', 'ecommerceLegacyId']) assert.ok(!(name in json.data[0]), name)
      assert.equal(json.meta.warnings, undefined)
      assert.equal(strict.status, 200)
    } else {
      assert.deepEqual(json.data, [])
      assert.equal(json.meta.warnings[0].code, 'capability_unavailable')
      assert.match(json.meta.warnings[0].detail, new RegExp(release.replace('.', '\\.')))
      assertProblem(strict, 'capability_unavailable', api.baseUrl)
    }
  })
}

import assert from 'node:assert/strict'
import { assertRejected, getData } from './api.ts'
import { addressLines, fields, paths } from './names.ts'
import { createNames } from './shop.ts'
import { type StatementContext, section, statement } from './statement.ts'
import { requireValue } from './untestable.ts'

const timestampPattern = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/

/** Sends the fields in a POST, and in a PUT to a customer without them. Checks both responses with `assertCustomer`. */
async function assertPostAndPut(
  { api, shop }: StatementContext,
  input: object,
  assertCustomer: (customer: Record<string, unknown>) => void,
) {
  assertCustomer(await shop.createCustomer(input))
  const { id } = await shop.createCustomer()
  assertCustomer(getData(await api.put(paths.customer(id), input)))
  assertCustomer(getData(await api.get(paths.customer(id))))
}

const getPhones = ({ contact }: Record<string, unknown>) => (contact as { phones: { mobile: string | null } }).phones

/** Checks that a subscription overrides `privacy` of the same request. */
const assertOverridesPrivacy = (flag: string) => (context: StatementContext) =>
  assertPostAndPut(context, { [flag]: true, privacy: true }, customer =>
    assert.deepEqual([customer[flag], customer.privacy], [true, false]),
  )

export const customers = section(
  '2. Customer fields',
  statement('mobile: string, in POST and PUT', context =>
    assertPostAndPut(context, { mobile: '+61 491 570 006' }, customer =>
      assert.equal(getPhones(customer).mobile, '+61 491 570 006'),
    ),
  ),
  statement('mobile, dateOfBirth: optional', context =>
    assertPostAndPut(context, { title: 'Ms' }, customer => {
      assert.deepEqual([customer.dateOfBirth, getPhones(customer).mobile], [null, null])
    }),
  ),
  statement('dateOfBirth: string, in POST and PUT', context =>
    assertPostAndPut(context, { dateOfBirth: '1980-02-29' }, customer =>
      assert.equal(customer.dateOfBirth, '1980-02-29'),
    ),
  ),
  statement(
    'emailSubscription: when true, privacy is overridden to false',
    assertOverridesPrivacy('emailSubscription'),
  ),
  statement('smsSubscription: when true, privacy is overridden to false', assertOverridesPrivacy('smsSubscription')),
  statement('emailSubscription, smsSubscription, privacy: boolean', async ({ api, shop }) => {
    const { id } = await shop.createCustomer()
    for (const flag of ['emailSubscription', 'smsSubscription', 'privacy'])
      assertRejected(await api.put(paths.customer(id), { [flag]: 'true' }))
  }),
  statement('privacy: changing it changes the accept-marketing status', async ({ api, shop }) => {
    const { id } = await shop.createCustomer({ privacy: false })
    for (const privacy of [true, false]) {
      assert.equal(getData(await api.put(paths.customer(id), { privacy })).privacy, privacy)
      assert.equal(getData(await api.get(paths.customer(id))).privacy, privacy)
    }
  }),
  statement('updateTimeStamp: YYYY-MM-DD HH:MM:SS, always in the response', async ({ api, shop }) => {
    for (const { updateTimeStamp } of await shop.customers()) assert.match(updateTimeStamp, timestampPattern)
    for (const { updateTimeStamp } of getData(await api.get(paths.customers, { updated_after: '2000-01-01' })))
      assert.match(updateTimeStamp, timestampPattern)
    await assertPostAndPut({ api, shop } as StatementContext, { title: 'Mr' }, customer =>
      assert.match(String(customer.updateTimeStamp), timestampPattern),
    )
  }),
  statement('updateTimeStamp: not accepted in the PUT request', async ({ api, shop }) => {
    const { id, updateTimeStamp } = await shop.createCustomer()
    assertRejected(await api.put(paths.customer(id), { updateTimeStamp, title: 'Mr' }))
    assert.equal(getData(await api.get(paths.customer(id))).title, null)
  }),
  statement('startDate: YYYY-MM-DD HH:MM:SS', async ({ shop }) => {
    const dates = (await shop.customers()).flatMap(({ startDate }) => startDate ?? [])
    assert.ok(dates.length > 0)
    for (const date of dates) assert.match(date, timestampPattern)
  }),
  statement('contact: an object with email and phones', async ({ shop }) => {
    for (const { contact } of await shop.customers()) assert.deepEqual(Object.keys(contact).sort(), ['email', 'phones'])
  }),
  statement('contacts: superseded by contact', async ({ shop }) => {
    for (const customer of await shop.customers()) assert.ok(!('contacts' in customer) && 'contact' in customer)
  }),
  statement('ecommerceAdminId, ecommerceLegacyId: in the response', async ({ api, shop }) => {
    const [{ id }] = await shop.customers()
    for (const customer of [...(await shop.customers()), getData(await api.get(paths.customer(id)))])
      assert.ok('ecommerceAdminId' in customer && 'ecommerceLegacyId' in customer)
  }),
  statement('... omitted when updated_after is used on the customer list', async ({ api }) => {
    const pageCustomers = getData(await api.get(paths.customers, { updated_after: '2000-01-01' }))
    assert.ok(pageCustomers.length > 0)
    for (const customer of pageCustomers)
      assert.ok(!('ecommerceAdminId' in customer || 'ecommerceLegacyId' in customer))
  }),
  statement('addressLine2, state, city, postcode, country: in camel-case form', context =>
    assertPostAndPut(context, { address: { ...addressLines, addressLine2: 'Level 5' } }, customer =>
      assert.deepEqual(customer.address, { ...addressLines, addressLine2: 'Level 5' }),
    ),
  ),
  statement('sign-up store code, loyalty program code and name: in customers/search', async ({ shop }) => {
    const listedCustomers = await shop.customers()
    for (const customer of listedCustomers)
      for (const name of [fields.signUpStore, ...fields.loyalty]) assert.ok(name in customer)
    requireValue(
      listedCustomers.find(customer => customer[fields.loyalty[1] ?? '']),
      'no customer is in a loyalty programme',
    )
  }),
  statement('Customer references are the actual reference value, not only its identifier', async ({ shop }) => {
    const references = (await shop.customers()).flatMap(customer =>
      Object.values<{ name: string | null }>(customer.references),
    )
    requireValue(references[0], 'no customer has a reference')
    for (const { name } of references) assert.ok(name)
  }),
)

export const customerRequests = [
  statement('POST customers: a customer body; the created customer', async ({ api, shop }) => {
    const created = await shop.createCustomer({ mobile: '+61 491 570 006' })
    assert.deepEqual(getData(await api.get(paths.customer(created.id))).contact, created.contact)
  }),
  statement('PUT customers: a customer body without updateTimeStamp; the updated customer', async ({ api, shop }) => {
    const { id } = await shop.createCustomer()
    assert.equal(getData(await api.put(paths.customer(id), { surname: 'Changed' })).surname, 'Changed')
    assert.equal(getData(await api.get(paths.customer(id))).surname, 'Changed')
  }),
  statement('GET customers: updated_after; an array of customers', async ({ api, shop }) => {
    const { id } = await shop.createCustomer(createNames())
    const { updateTimeStamp } = getData(await api.get(paths.customer(id)))
    const updatedAfter = new Date(Date.parse(`${updateTimeStamp.replace(' ', 'T')}Z`) - 2_000)
      .toISOString()
      .slice(0, 19)
    const pageCustomers = getData(await api.get(paths.customers, { updated_after: updatedAfter }))
    assert.ok(pageCustomers.some((customer: { id: string }) => customer.id === id))
    for (const customer of pageCustomers) assert.ok(customer.updateTimeStamp >= updatedAfter.replace('T', ' '))
  }),
]

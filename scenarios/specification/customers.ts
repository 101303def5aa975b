import assert from 'node:assert/strict'
import { assertRejected, dataOf } from './api.ts'
import { addressLines, fields, paths } from './names.ts'
import { requireValue } from './not-tried.ts'
import { names } from './shop.ts'
import { type StatementContext, section, statement } from './statement.ts'

const timestamp = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/

/** Sends the fields in a POST, and in a PUT to a customer without them. Checks both responses with `isSo`. */
async function posted(
  { api, shop }: StatementContext,
  sent: object,
  isSo: (customer: Record<string, unknown>) => void,
) {
  isSo(await shop.newCustomer(sent))
  const { id } = await shop.newCustomer()
  isSo(dataOf(await api.put(paths.customer(id), sent)))
  isSo(dataOf(await api.get(paths.customer(id))))
}

const phonesOf = ({ contact }: Record<string, unknown>) => (contact as { phones: { mobile: string | null } }).phones

/** Checks that a subscription overrides `privacy` of the same request. */
const overrides = (flag: string) => (trial: StatementContext) =>
  posted(trial, { [flag]: true, privacy: true }, customer =>
    assert.deepEqual([customer[flag], customer.privacy], [true, false]),
  )

export const customers = section(
  '2. Customer fields',
  statement('mobile: string, in POST and PUT', trial =>
    posted(trial, { mobile: '+61 491 570 006' }, customer =>
      assert.equal(phonesOf(customer).mobile, '+61 491 570 006'),
    ),
  ),
  statement('mobile, dateOfBirth: optional', trial =>
    posted(trial, { title: 'Ms' }, customer => {
      assert.deepEqual([customer.dateOfBirth, phonesOf(customer).mobile], [null, null])
    }),
  ),
  statement('dateOfBirth: string, in POST and PUT', trial =>
    posted(trial, { dateOfBirth: '1980-02-29' }, customer => assert.equal(customer.dateOfBirth, '1980-02-29')),
  ),
  statement('emailSubscription: when true, privacy is overridden to false', overrides('emailSubscription')),
  statement('smsSubscription: when true, privacy is overridden to false', overrides('smsSubscription')),
  statement('emailSubscription, smsSubscription, privacy: boolean', async ({ api, shop }) => {
    const { id } = await shop.newCustomer()
    for (const flag of ['emailSubscription', 'smsSubscription', 'privacy'])
      assertRejected(await api.put(paths.customer(id), { [flag]: 'true' }))
  }),
  statement('privacy: changing it changes the accept-marketing status', async ({ api, shop }) => {
    const { id } = await shop.newCustomer({ privacy: false })
    for (const privacy of [true, false]) {
      assert.equal(dataOf(await api.put(paths.customer(id), { privacy })).privacy, privacy)
      assert.equal(dataOf(await api.get(paths.customer(id))).privacy, privacy)
    }
  }),
  statement('updateTimeStamp: YYYY-MM-DD HH:MM:SS, always in the response', async ({ api, shop }) => {
    for (const { updateTimeStamp } of await shop.customers()) assert.match(updateTimeStamp, timestamp)
    for (const { updateTimeStamp } of dataOf(await api.get(paths.customers, { updated_after: '2000-01-01' })))
      assert.match(updateTimeStamp, timestamp)
    await posted({ api, shop } as StatementContext, { title: 'Mr' }, customer =>
      assert.match(String(customer.updateTimeStamp), timestamp),
    )
  }),
  statement('updateTimeStamp: not accepted in the PUT request', async ({ api, shop }) => {
    const { id, updateTimeStamp } = await shop.newCustomer()
    assertRejected(await api.put(paths.customer(id), { updateTimeStamp, title: 'Mr' }))
    assert.equal(dataOf(await api.get(paths.customer(id))).title, null)
  }),
  statement('startDate: YYYY-MM-DD HH:MM:SS', async ({ shop }) => {
    const dates = (await shop.customers()).flatMap(({ startDate }) => startDate ?? [])
    assert.ok(dates.length > 0)
    for (const date of dates) assert.match(date, timestamp)
  }),
  statement('contact: an object with email and phones', async ({ shop }) => {
    for (const { contact } of await shop.customers()) assert.deepEqual(Object.keys(contact).sort(), ['email', 'phones'])
  }),
  statement('contacts: superseded by contact', async ({ shop }) => {
    for (const customer of await shop.customers()) assert.ok(!('contacts' in customer) && 'contact' in customer)
  }),
  statement('ecommerceAdminId, ecommerceLegacyId: in the response', async ({ api, shop }) => {
    const [{ id }] = await shop.customers()
    for (const customer of [...(await shop.customers()), dataOf(await api.get(paths.customer(id)))])
      assert.ok('ecommerceAdminId' in customer && 'ecommerceLegacyId' in customer)
  }),
  statement('... omitted when updated_after is used on the customer list', async ({ api }) => {
    const customersOfPage = dataOf(await api.get(paths.customers, { updated_after: '2000-01-01' }))
    assert.ok(customersOfPage.length > 0)
    for (const customer of customersOfPage)
      assert.ok(!('ecommerceAdminId' in customer || 'ecommerceLegacyId' in customer))
  }),
  statement('addressLine2, state, city, postcode, country: in camel-case form', trial =>
    posted(trial, { address: { ...addressLines, addressLine2: 'Level 5' } }, customer =>
      assert.deepEqual(customer.address, { ...addressLines, addressLine2: 'Level 5' }),
    ),
  ),
  statement('sign-up store code, loyalty program code and name: in customers/search', async ({ shop }) => {
    const customersOfList = await shop.customers()
    for (const customer of customersOfList)
      for (const name of [fields.signUpStore, ...fields.loyalty]) assert.ok(name in customer)
    requireValue(
      customersOfList.find(customer => customer[fields.loyalty[1] ?? '']),
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
    const created = await shop.newCustomer({ mobile: '+61 491 570 006' })
    assert.deepEqual(dataOf(await api.get(paths.customer(created.id))).contact, created.contact)
  }),
  statement('PUT customers: a customer body without updateTimeStamp; the updated customer', async ({ api, shop }) => {
    const { id } = await shop.newCustomer()
    assert.equal(dataOf(await api.put(paths.customer(id), { surname: 'Changed' })).surname, 'Changed')
    assert.equal(dataOf(await api.get(paths.customer(id))).surname, 'Changed')
  }),
  statement('GET customers: updated_after; an array of customers', async ({ api, shop }) => {
    const { id } = await shop.newCustomer(names())
    const { updateTimeStamp } = dataOf(await api.get(paths.customer(id)))
    const before = new Date(Date.parse(`${updateTimeStamp.replace(' ', 'T')}Z`) - 2_000).toISOString().slice(0, 19)
    const customersOfPage = dataOf(await api.get(paths.customers, { updated_after: before }))
    assert.ok(customersOfPage.some((customer: { id: string }) => customer.id === id))
    for (const customer of customersOfPage) assert.ok(customer.updateTimeStamp >= before.replace('T', ' '))
  }),
]

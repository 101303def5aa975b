import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { buildCustomer, createCustomer, startCustomerShop } from '../../support/customer-bodies.ts'
import { assertProblem } from '../../support/problem.ts'
import type { Caller } from '../../support/service.ts'
import { put } from '../../support/write.ts'

const api = await startCustomerShop()
after(() => api.stop())

const buildNamedCustomer = (firstname: string, surname: string) => ({ ...buildCustomer(), firstname, surname })

const toSearchPath = (name: string, more = '') => `/customers/search?name=${encodeURIComponent(name)}${more}`

/** Returns the customers that a name finds, in list order. */
async function findNames(caller: Caller, name: string) {
  const { status, json, text } = await caller.get(toSearchPath(name))
  assert.equal(status, 200, text)
  return json.data.map((record: { firstname: string; surname: string }) => `${record.firstname} ${record.surname}`)
}

test('a name search matches surname prefixes and full surnames with first-name prefixes', async () => {
  for (const [firstname, surname] of [
    ['Joan', 'Smith'],
    ['Adam', 'Smithers'],
    ['Zoe', 'Smith'],
    ['Smith', 'Jones'],
    ['Maria', 'van der Berg'],
  ] as const)
    await createCustomer(api, buildNamedCustomer(firstname, surname))
  assert.deepEqual(await findNames(api, 'smith'), ['Joan Smith', 'Zoe Smith', 'Adam Smithers'])
  assert.deepEqual(await findNames(api, 'SMITH j'), ['Joan Smith'])
  assert.deepEqual(await findNames(api, 'Smith, Joan'), ['Joan Smith'])
  assert.deepEqual(await findNames(api, ' smith ,  z '), ['Zoe Smith'])
  assert.deepEqual(await findNames(api, 'van der Berg m'), ['Maria van der Berg'])
  assert.deepEqual(await findNames(api, 'jones'), ['Smith Jones'])
  assert.deepEqual(await findNames(api, 'mith'), [])
  assert.deepEqual(await findNames(api, 'joan smith'), [])
})

test('a name search ignores case, accents, apostrophe style and Unicode form', async () => {
  await createCustomer(api, buildNamedCustomer('Zoë', 'Müller'))
  await createCustomer(api, buildNamedCustomer('Siobhán', 'O’Neill'))
  await createCustomer(api, buildNamedCustomer('Łukasz', 'Čapek'))
  for (const name of ['müller', 'MULLER', 'Mu\u0308ller', 'Muller Zoe', 'müller zoë'])
    assert.deepEqual(await findNames(api, name), ['Zoë Müller'], name)
  for (const name of ["O'Neill", 'o’neill siobhan'])
    assert.deepEqual(await findNames(api, name), ['Siobhán O’Neill'], name)
  assert.deepEqual(await findNames(api, 'capek'), ['Łukasz Čapek'])
  for (const name of ['%', '_', '\\', 'mu%', 'm_ller']) assert.deepEqual(await findNames(api, name), [], name)
})

test('a name search finds an imported name of thousands of characters', async () => {
  await upsertCustomers(api.db, api.service, [{ id: 'long', firstname: 'Ann', surname: 'Quux'.repeat(2_500) }])
  const { json } = await api.get(toSearchPath('quuxquux'))
  assert.deepEqual(
    json.data.map(({ id }: { id: string }) => id),
    ['long'],
  )
})

test('a renamed customer is found immediately by the new name only', async () => {
  const { id } = await createCustomer(api, buildNamedCustomer('Bea', 'Oldname'))
  assert.deepEqual(await findNames(api, 'oldname'), ['Bea Oldname'])
  await put(api, `/customers/${id}`, { surname: 'Newname' })
  assert.deepEqual(await findNames(api, 'oldname'), [])
  assert.deepEqual(await findNames(api, 'newname'), ['Bea Newname'])
})

test('customers with the same name are paginated without gaps or repeats', async () => {
  const firstnames = ['Ann', 'Bob', 'Ann', 'Cid', 'Ann', 'Bob', 'Dee']
  const ids: Record<string, string> = {}
  for (const firstname of firstnames) {
    const { id } = await createCustomer(api, buildNamedCustomer(firstname, 'Walker'))
    ids[id] = firstname
  }
  const paginatedIds: string[] = []
  for (let cursor = ''; ; ) {
    const { json, status } = await api.get(toSearchPath('walker', `&limit=2${cursor}`))
    assert.equal(status, 200)
    paginatedIds.push(...json.data.map(({ id }: { id: string }) => id))
    if (!json.meta.hasNextPage) break
    cursor = `&after_cursor=${encodeURIComponent(json.meta.endCursor)}`
  }
  const sortedIds = Object.keys(ids).toSorted((a, b) => {
    const [x, y] = [`${ids[a]} ${a}`, `${ids[b]} ${b}`]
    return x < y ? -1 : 1
  })
  assert.deepEqual(paginatedIds, sortedIds)
})

test("a name search never returns another service's customers", async () => {
  const other = await api.createService()
  await createCustomer(api, buildNamedCustomer('Tess', 'Tenantson'))
  assert.deepEqual(await findNames(api, 'tenantson'), ['Tess Tenantson'])
  assert.deepEqual(await findNames(other, 'tenantson'), [])
})

test('a name filter must be short, not empty and without `updated_after`', async () => {
  for (const query of ['name=smith&updated_after=2024-01-01T00:00:00Z', 'name=', `name=${'x'.repeat(102)}`]) {
    const response = await api.get(`/customers/search?${query}`)
    assertProblem(response, 'invalid_parameter', api.baseUrl, '/customers/search')
    assert.deepEqual(
      response.json.errors.map(({ parameter }: { parameter: string }) => parameter),
      ['name'],
    )
  }
})

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { sql } from '../../src/database/db.ts'
import type { ErrorCode } from '../../src/errors/api-error.ts'
import { waitForBlockedConnections } from './postgres/hold-locks.ts'
import { assertProblem } from './problem.ts'
import { type Caller, startTestApi, type TestApi, type TestResponse } from './service.ts'
import { post, put, withKey } from './write.ts'

let emailCount = 0
export const newEmail = () => `shopper${++emailCount}@example.com`

/** Returns the body of a customer with only the required fields, plus `overrides`. */
export const buildCustomer = (overrides: object = {}) => ({
  firstname: 'John',
  surname: 'Smith',
  contact: { email: newEmail() },
  ...overrides,
})

/** A customer body with all optional fields except `contact` and `phones`. */
export const allCustomerFields = {
  title: 'Dr',
  firstname: 'Mary-Jane',
  surname: "O'Neill",
  mobile: '+61 400 123 456',
  dateOfBirth: '1980-02-29',
  privacy: false,
  emailSubscription: false,
  smsSubscription: false,
  address: {
    addressLine1: '111 Collins St',
    addressLine2: 'Level 5',
    city: 'Melbourne',
    state: 'VIC',
    postcode: '3000',
    country: 'Australia',
  },
}
export const allPhones = { home: '(03) 9123-4567', mobile: '+61 400 123 456', work: '03.9123/4568' }

/** Starts the API with a maintainer account and no rate limits. */
export const startCustomerShop = () =>
  startTestApi({
    settings: { timeZone: 'Australia/Melbourne', writesPerMinute: 'off', readsPerMinute: 'off' },
    role: 'maintainer',
  })

/** Creates a customer, and returns its record. */
export async function createCustomer(caller: Caller, body: object = buildCustomer()) {
  const response = await post(caller, '/customers', body)
  assert.equal(response.status, 201, response.text)
  return response.json.data
}

/** Posts a customer with a key, by default a new one. */
export const postCustomer = (caller: Pick<Caller, 'request'>, body: unknown, key: string = randomUUID()) =>
  post(caller, '/customers', body, withKey(key))

export const countCustomersByEmail = async ({ db, service }: Pick<TestApi, 'db' | 'service'>, email: string) =>
  (await db.rows(sql`select from customer where service_id = ${service.id} and lower(email) = lower(${email})`)).length

/** Changes a customer, and returns its record. */
export async function updateCustomer(caller: Caller, id: string, change: object) {
  const response = await put(caller, `/customers/${id}`, change)
  assert.equal(response.status, 200, response.text)
  return response.json.data
}

/** Returns the codes of a response's warnings. */
export const getWarningCodes = ({ meta }: { meta?: { warnings: { code: string }[] } }) =>
  meta?.warnings.map(({ code }) => code) ?? []

/** Counts the customers of all services. */
export const countCustomers = async ({ db }: Pick<TestApi, 'db'>) =>
  (await db.row<{ n: number }>(sql`select count(*)::integer as n from customer`))?.n as number

/** Asserts that `work` doesn't change the number of customers. */
export async function assertCreatesNoCustomer(api: Pick<TestApi, 'db'>, work: () => Promise<void>) {
  const before = await countCustomers(api)
  await work()
  assert.equal(await countCustomers(api), before)
}

/** Asserts a rejection with exactly these field errors. */
export function assertRejected({ baseUrl }: TestApi, response: TestResponse, code: ErrorCode, ...pointers: string[]) {
  assertProblem(response, code, baseUrl)
  assert.deepEqual(
    (response.json.errors ?? []).map((error: { pointer: string }) => error.pointer),
    pointers,
    response.text,
  )
}

/**
 * Changes a customer while other work on its row is in flight. The change reaches the row first, then the work, and
 * both wait for a lock that this function releases. Returns the customer's record after both.
 */
export async function updateCustomerDuring(api: TestApi, id: string, change: object, work: () => Promise<unknown>) {
  const holder = await api.db.pool.connect()
  try {
    await holder.query('begin')
    await holder.query('select from customer where id = $1 for update', [id])
    const first = put(api, `/customers/${id}`, change)
    await waitForBlockedConnections(api)
    const second = work()
    await waitForBlockedConnections(api, 2)
    await holder.query('commit')
    await Promise.all([first, second])
  } finally {
    holder.release(true)
  }
  return (await api.get(`/customers/${id}`)).json.data
}

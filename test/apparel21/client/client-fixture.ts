import assert from 'node:assert/strict'
import { after, afterEach } from 'node:test'
import type { Simulator } from '../../../simulator/control/handle.ts'
import { startSimulator } from '../../../simulator/simulator.ts'
import { type Client, createClient } from '../../../src/backoffice/apparel21/client/client.ts'
import type { Connection, Limits } from '../../../src/backoffice/apparel21/client/connection.ts'
import { ApiError, type ErrorCode } from '../../../src/errors/api-error.ts'

/** A simulator and clients of it, shared by the tests of a file. */
export interface ClientFixture {
  simulator: Simulator
  /** Opens a client of the simulator, or of the connection's `url`. The client is closed after the test. */
  open(limits?: Partial<Limits>, connection?: Partial<Connection>): Client
  /** Log lines of the clients, as JSON. */
  logged: string[]
}

/** Starts the fixture. It is reset after each test and closed after the last one. */
export async function startClientFixture(): Promise<ClientFixture> {
  const simulator = await startSimulator({ settings: { credentials: { user: 'till', password: 'bridge' } } })
  let clients: Client[] = []
  const logged: string[] = []
  afterEach(() => {
    for (const client of clients) client.close()
    clients = []
    simulator.faults.clear()
    simulator.ledger.clear()
  })
  after(() => simulator.close())
  return {
    simulator,
    logged,
    open(limits = {}, connection = {}) {
      const record = (facts: object, message: string) => logged.push(JSON.stringify({ ...facts, message }))
      const client = createClient({
        url: simulator.url,
        countryCode: 'AU',
        username: 'till',
        password: 'bridge',
        timeZone: 'Australia/Melbourne',
        limits: { deadlineMs: 3_000, ...limits },
        log: { info: record, warn: record },
        ...connection,
      })
      clients.push(client)
      return client
    },
  }
}

/** Samples of a read and a write. */
export const stores = { endpoint: 'stores', path: ['Stores'], roots: ['Stores'] } as const
export const lock = {
  endpoint: 'voucherLock',
  method: 'PUT',
  path: ['Voucher', 'Lock', '1'],
  query: { ValidationId: 'x' },
} as const

/** Asserts that a call fails with this error code. Returns the error. */
export async function assertFails(call: Promise<unknown>, code: ErrorCode): Promise<ApiError> {
  const error = await call.then(
    () => assert.fail('the call succeeded'),
    reason => reason,
  )
  assert.ok(error instanceof ApiError, String(error))
  assert.equal(error.code, code, String(error.cause))
  return error
}

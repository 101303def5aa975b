import assert from 'node:assert/strict'
import { after, afterEach } from 'node:test'
import type { Simulator } from '../../../simulator/control/handle.ts'
import { startSimulator } from '../../../simulator/simulator.ts'
import { type Client, createClient } from '../../../src/backoffice/apparel21/client/client.ts'
import type { Connection, Limits } from '../../../src/backoffice/apparel21/client/connection.ts'
import { ApiError, type ErrorCode } from '../../../src/errors/api-error.ts'

/** The server that calls of one client go to. */
export interface Calls {
  simulator: Simulator
  /** A client of the simulator, or of what else the connection names, until the test is over. */
  open(limits?: Partial<Limits>, connection?: Partial<Connection>): Client
  /** Log lines of the clients. */
  logged: string[]
}

/** Calls of the tests of a file. */
export async function callsOfTests(): Promise<Calls> {
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
      const note = (facts: object, message: string) => logged.push(JSON.stringify({ ...facts, message }))
      const client = createClient({
        url: simulator.url,
        countryCode: 'AU',
        username: 'till',
        password: 'bridge',
        timeZone: 'Australia/Melbourne',
        limits: { deadlineMs: 3_000, ...limits },
        log: { info: note, warn: note },
        ...connection,
      })
      clients.push(client)
      return client
    },
  }
}

/** A read and a write. */
export const stores = { endpoint: 'stores', path: ['Stores'], roots: ['Stores'] } as const
export const lock = {
  endpoint: 'voucherLock',
  method: 'PUT',
  path: ['Voucher', 'Lock', '1'],
  query: { ValidationId: 'x' },
} as const

/** Asserts that a call fails with this code; returns the error. */
export async function fails(call: Promise<unknown>, code: ErrorCode): Promise<ApiError> {
  const error = await call.then(
    () => assert.fail('it succeeds'),
    reason => reason,
  )
  assert.ok(error instanceof ApiError, String(error))
  assert.equal(error.code, code, String(error.cause))
  return error
}

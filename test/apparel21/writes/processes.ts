import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { after } from 'node:test'
import { connectBackOffice } from '../../../scenarios/support/back-office-connection.ts'
import { startSimulator } from '../../../simulator/simulator.ts'
import { deriveKeys } from '../../../src/crypto/keys.ts'
import { sql } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { addAccount } from '../../../src/store/accounts/accounts.ts'
import { addService } from '../../../src/store/tenancy/services.ts'
import { settings } from '../../drivers/apparel21.ts'
import { createTestDatabase } from '../../support/database.ts'
import { address } from '../../support/order-shop.ts'
import {
  createDirectory,
  type Environment,
  type RunningCommand,
  type RunningServer,
  waitUntil,
} from '../../support/processes.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
export type WriteResponse = { status: number; retryAfter: string | undefined; code: string; data: any }

export interface SendOptions {
  method?: 'POST' | 'PUT' | 'DELETE'
  key?: string
  /** Headers with the credentials of a service. The default is the service that uses the simulator. */
  credentials?: Record<string, string>
}

export type ProcessFixture = Awaited<ReturnType<typeof startProcessFixture>>

/** Creates a database with two services, for tests that start server processes: one uses a simulator, the neighbour is embedded. */
export async function startProcessFixture() {
  const home = createDirectory()
  const simulator = await startSimulator({ sizes: { stores: 3, styles: 3, persons: 40, vouchers: 3 } })
  const { db, connection, drop } = await createTestDatabase()
  const agents = new Map<string, Agent>()
  after(async () => {
    for (const agent of agents.values()) agent.destroy()
    await drop()
    await simulator.close()
  })
  const secret = randomBytes(32).toString('hex')
  const keys = deriveKeys(secret)
  const service = (await addService(db, 'luma', settings)) ?? assert.fail()
  const neighbour = (await addService(db, 'neighbour', settings)) ?? assert.fail()
  await connectBackOffice(db, keys, service, { url: simulator.url, gateways: ['visa'] })
  const buildHeaders = async (owner: Service) => ({
    authorization: `Basic ${Buffer.from(`${owner.name}:${await addAccount(db, keys, owner.name, owner, 'maintainer')}`).toString('base64')}`,
    'x-service-name': owner.name,
    'content-type': 'application/json',
  })
  const ownHeaders = await buildHeaders(service)
  const getAgent = ({ baseUrl, caFile = '' }: RunningServer) => {
    const agent = agents.get(baseUrl) ?? new Agent({ keepAlive: true, ca: readFileSync(caFile), maxSockets: 400 })
    agents.set(baseUrl, agent)
    return agent
  }

  return {
    simulator,
    db,
    service,
    neighbour: await buildHeaders(neighbour),
    /** Builds the environment of a process. Each process has its own data directory. */
    buildEnvironment: (name: string, more: Environment = {}): Environment => ({
      DATA_DIR: join(home, name),
      DATABASE_URL: connection,
      SECRET_KEY: secret,
      RUN_JOBS: 'false',
      ...more,
    }),
    /** Sends a write. Rejects if the connection ends without a response. */
    send: (
      to: RunningServer,
      path: string,
      body: object,
      { method = 'POST', key, credentials = ownHeaders }: SendOptions = {},
    ) =>
      new Promise<WriteResponse>((resolve, reject) => {
        const headers = { ...credentials, ...(key !== undefined && { 'idempotency-key': key }) }
        const clientRequest = request(
          `${to.baseUrl}${path}`,
          { method, agent: getAgent(to), timeout: 70_000, headers },
          response => {
            let text = ''
            response.setEncoding('utf8').on('data', part => (text += part))
            response.on('error', reject)
            response.on('end', () => {
              const retryAfter = response.headers['retry-after']
              resolve({ status: response.statusCode ?? 0, retryAfter, ...JSON.parse(text) })
            })
          },
        )
        clientRequest.on('timeout', () => clientRequest.destroy(new Error('no response')))
        clientRequest.on('error', reject)
        // Node sends the body of a DELETE without its length.
        clientRequest.end(method === 'DELETE' ? undefined : JSON.stringify(body))
      }),
    /** Counts the service's rows in a table that match an SQL condition. */
    countTableRows: async (table: string, condition = 'true') =>
      (
        await db.pool.query(`select count(*)::integer as n from ${table} where service_id = $1 and ${condition}`, [
          service.id,
        ])
      ).rows[0].n as number,
    /** Expires the lease of every write intent. If `isDue` is true, the job can recover them immediately. */
    async expireClaims(isDue = false) {
      await db.run(sql`
        update intent set claimed_until = now() - interval '1 s', next_check_at = now() + ${isDue ? -1 : 3_600} * interval '1 s'`)
      await db.run(sql`update reservation set reserved_until = now() - interval '1 s'`)
    },
    /** Builds an order of one unit by a shopper. */
    buildOrder(shopperIndex = 0, more: object = {}) {
      const sku = [...simulator.state.skus.values()].find(({ colour, price }) => !colour.style.special && price > 0)
      const shoppers = [...simulator.state.persons.values()].filter(({ email }) => email !== '')
      return {
        customerId: String(shoppers[shopperIndex % shoppers.length]?.id),
        billingAddress: address,
        deliveryAddress: address,
        lines: [{ sku: String(sku?.id), quantity: 1 }],
        payments: [{ gateway: 'visa', amount: sku?.price.toFixed(2) }],
        ...more,
      }
    },
    buildPerson: (name: string = randomUUID()) => ({
      firstname: 'Ann',
      surname: 'Crash',
      contact: { email: `${name}@example.com` },
    }),
  }
}

/** Waits until a process has halted itself. */
export const waitUntilHalted = ({ pid }: RunningCommand) =>
  waitUntil(() => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] === 'T', 'the process is halted')

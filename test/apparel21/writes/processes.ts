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
export type Answered = { status: number; retryAfter: string | undefined; code: string; data: any }

export interface SendOptions {
  method?: 'POST' | 'PUT' | 'DELETE'
  key?: string
  /** Credentials of a service. Default: the one that uses the simulator. */
  by?: Record<string, string>
}

/** A service in front of a simulator, and a neighbour with tables of its own, for processes that are started one by one. */
export type ShopOfProcesses = Awaited<ReturnType<typeof shopOfProcesses>>

export async function shopOfProcesses() {
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
  const headersOf = async (of: Service) => ({
    authorization: `Basic ${Buffer.from(`${of.name}:${await addAccount(db, keys, of.name, of, 'maintainer')}`).toString('base64')}`,
    'x-service-name': of.name,
    'content-type': 'application/json',
  })
  const own = await headersOf(service)
  const agentOf = ({ baseUrl, caFile = '' }: RunningServer) => {
    const agent = agents.get(baseUrl) ?? new Agent({ keepAlive: true, ca: readFileSync(caFile), maxSockets: 400 })
    agents.set(baseUrl, agent)
    return agent
  }

  return {
    simulator,
    db,
    service,
    neighbour: await headersOf(neighbour),
    /** Returns the environment of a process. Each has its own directory. */
    environmentOf: (name: string, more: Environment = {}): Environment => ({
      DATA_DIR: join(home, name),
      DATABASE_URL: urlOf(connection),
      SECRET_KEY: secret,
      RUN_JOBS: 'false',
      ...more,
    }),
    /** One write; rejects where the connection ends without an answer. */
    send: (to: RunningServer, path: string, body: object, { method = 'POST', key, by = own }: SendOptions = {}) =>
      new Promise<Answered>((resolve, reject) => {
        const headers = { ...by, ...(key !== undefined && { 'idempotency-key': key }) }
        const clientRequest = request(
          `${to.baseUrl}${path}`,
          { method, agent: agentOf(to), timeout: 70_000, headers },
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
        clientRequest.on('timeout', () => clientRequest.destroy(new Error('no answer')))
        clientRequest.on('error', reject)
        // Node sends the body of a DELETE without its length.
        clientRequest.end(method === 'DELETE' ? undefined : JSON.stringify(body))
      }),
    /** How many rows the service has in a table. */
    rows: async (table: string, and = 'true') =>
      (
        await db.pool.query(`select count(*)::integer as n from ${table} where service_id = $1 and ${and}`, [
          service.id,
        ])
      ).rows[0].n as number,
    /** Expires the lease of every write intent. `isDue`: the job can recover them as well. */
    async claimsRunOut(isDue = false) {
      await db.run(sql`
        update intent set claimed_until = now() - interval '1 s', next_check_at = now() + ${isDue ? -1 : 3_600} * interval '1 s'`)
      await db.run(sql`update reservation set reserved_until = now() - interval '1 s'`)
    },
    /** An order of one piece, by one of the shoppers. */
    order(of = 0, more: object = {}) {
      const sku = [...simulator.state.skus.values()].find(({ colour, price }) => !colour.style.special && price > 0)
      const shoppers = [...simulator.state.persons.values()].filter(({ email }) => email !== '')
      return {
        customerId: String(shoppers[of % shoppers.length]?.id),
        billingAddress: address,
        deliveryAddress: address,
        lines: [{ sku: String(sku?.id), quantity: 1 }],
        payments: [{ gateway: 'visa', amount: sku?.price.toFixed(2) }],
        ...more,
      }
    },
    person: (name: string = randomUUID()) => ({
      firstname: 'Ann',
      surname: 'Crash',
      contact: { email: `${name}@example.com` },
    }),
  }
}

function urlOf(connection: Awaited<ReturnType<typeof createTestDatabase>>['connection']) {
  if (typeof connection === 'string') return connection
  const { user, host, port, database: name } = connection
  return `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host ?? '')}&port=${port}`
}

/** Waits until a process has halted itself. */
export const halted = ({ pid }: RunningCommand) =>
  waitUntil(() => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] === 'T', 'the process is halted')

import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deriveKeys } from '../../../src/crypto/keys.ts'
import { type Database, openDatabase } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { type Postgres, startPostgres } from '../../../src/postgres/postgres.ts'
import { addAccount } from '../../../src/store/accounts/accounts.ts'
import { addService } from '../../../src/store/tenancy/services.ts'
import { fillShop } from '../order-shop.ts'
import type { Environment, RunningServer } from '../processes.ts'
import { gift, stockGiftCards, voucherSettings } from '../voucher-shop.ts'
import { install } from './installations.ts'

export interface WriteResponse {
  status: number
  replayed: boolean
  code: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  data: any
}

/** A small shop on a separate PostgreSQL, for tests that start and kill single processes. */
export interface ShopWithProcesses {
  postgres: Postgres
  db: Database
  service: Service
  /** Returns the environment of a process that serves the shop. Each has its own data directory. */
  buildEnvironment(name: string, overrides?: Environment): Environment
  /** Sends one write. Rejects if the connection ends without a response. */
  send(to: RunningServer, method: string, path: string, body: object, key?: string): Promise<WriteResponse>
  close(): Promise<void>
}

export async function openShopForProcesses(): Promise<ShopWithProcesses> {
  // Not `createDirectory()` of processes.ts, because `close` stops PostgreSQL here.
  const home = mkdtempSync(join(tmpdir(), 'tillbridge-test-'))
  chmodSync(home, 0o711)
  const { DATA_DIR } = await install({ DATA_DIR: join(home, 'data') })
  const postgres = await startPostgres(join(DATA_DIR, 'postgres'), { restartDelaysMs: Array(1_000).fill(0) })
  const db = openDatabase(postgres.connection, { max: 3, statementTimeoutMs: 60_000, onFault: () => {} })
  const secret = randomBytes(32).toString('hex')
  const keys = deriveKeys(secret)
  const service = await addService(db, 'luma', voucherSettings)
  if (!service) throw new Error('the service already exists')
  const password = await addAccount(db, keys, 'shopper', service, 'maintainer')
  await fillShop(db, service)
  await stockGiftCards({ db }, { service })
  const headers = {
    authorization: `Basic ${Buffer.from(`shopper:${password}`).toString('base64')}`,
    'x-service-name': service.name,
    'content-type': 'application/json',
  }
  const { host, port, user, database } = postgres.connection
  // One agent per process, because the next process can have the same port and another certificate.
  const agents = new Map<RunningServer, Agent>()
  const getAgent = (to: RunningServer) => {
    const agent = agents.get(to) ?? new Agent({ keepAlive: true, ca: readFileSync(to.caFile ?? ''), maxSockets: 250 })
    agents.set(to, agent)
    return agent
  }
  return {
    postgres,
    db,
    service,
    buildEnvironment: (name, overrides = {}) => ({
      DATA_DIR: join(home, name),
      DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
      SECRET_KEY: secret,
      RUN_JOBS: 'false',
      ...overrides,
    }),
    send: (to, method, path, body, key) =>
      new Promise((resolve, reject) => {
        const keyHeader = key === undefined ? {} : { 'idempotency-key': key }
        const options = { method, agent: getAgent(to), timeout: 30_000, headers: { ...headers, ...keyHeader } }
        const clientRequest = request(`${to.baseUrl}${path}`, options, response => {
          let text = ''
          response.setEncoding('utf8').on('data', part => (text += part))
          response.on('error', reject)
          response.on('end', () => {
            const { data, code } = JSON.parse(text)
            const replayed = response.headers['idempotent-replayed'] === 'true'
            resolve({ status: response.statusCode ?? 0, replayed, code, data })
          })
        })
        clientRequest.on('timeout', () => clientRequest.destroy(new Error('no response')))
        clientRequest.on('error', reject)
        clientRequest.end(JSON.stringify(body))
      }),
    async close() {
      for (const agent of agents.values()) agent.destroy()
      await db.close()
      await postgres.stop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

export const buildVoucher = (orderNumber: string, amount = '50.00') => ({ ...gift, orderNumber, amount })

import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import type { BackOffice } from '../../src/backoffice/port/back-office.ts'
import { readConfig } from '../../src/config/config.ts'
import { deriveKeys, type Keys } from '../../src/crypto/keys.ts'
import type { Database } from '../../src/database/db.ts'
import type { Role } from '../../src/domain/accounts.ts'
import type { Service, Settings } from '../../src/domain/tenancy/service-settings.ts'
import type { RouteDefinition } from '../../src/http/routing/route-definitions.ts'
import { routes } from '../../src/resources/resources.ts'
import { composeApp } from '../../src/runtime/app.ts'
import { listen } from '../../src/runtime/listener.ts'
import { addAccount } from '../../src/store/accounts/accounts.ts'
import { addService } from '../../src/store/tenancy/services.ts'
import { createTestDatabase, openTestDatabase, type TestDatabase } from './database.ts'

/** A response as a client receives it. */
export interface TestResponse {
  status: number
  headers: IncomingHttpHeaders
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  json: any
}

interface RequestOptions {
  method?: string
  headers?: Record<string, string | string[] | undefined>
  body?: string | Buffer
}

/** A caller with credentials for one service. */
export interface Caller {
  username: string
  password: string
  service: Service
  get(path: string, headers?: RequestOptions['headers']): Promise<TestResponse>
  request(path: string, options?: RequestOptions): Promise<TestResponse>
}

/** The API over TLS on a separate database, with one service and one account. */
export interface TestApi extends Caller {
  baseUrl: string
  ca: string
  db: Database
  database: TestDatabase
  keys: Keys
  /** The secret that the keys are derived from: `SECRET_KEY` of a command for this installation. */
  secret: string
  createAccount(role: Role, service?: Service): Promise<Caller>
  /** Creates another service with an account. */
  createService(settings?: Partial<Settings>): Promise<Caller>
  /** Sends a request without default headers. */
  sendRaw(path: string, options?: RequestOptions): Promise<TestResponse>
  stop(): Promise<void>
}

interface Options {
  settings?: Partial<Settings>
  role?: Role
  /** Environment settings of the server. */
  environment?: Record<string, string>
  /** Returns the back office of a service, instead of the configured one. */
  backOffice?: (service: Service) => BackOffice
  /** Receives the server's log. Default: no log. */
  log?: Logger
  /** Starts another server of this installation, like a second process: same service and account, separate connections. */
  sharedWith?: TestApi
  /** An existing database instead of a new one. A database with a demo shop also has its service. */
  database?: TestDatabase & Partial<Pick<TestApi, 'secret' | 'service'>>
  /** Additional routes. */
  furtherRoutes?: readonly RouteDefinition[]
}

/** Numbers the names of services and accounts of all servers of a test file. */
let nameCount = 0

/** Starts the API in this process, with one service and one account. Call `stop` after the tests. */
export async function startTestApi({
  settings = {},
  role = 'admin',
  environment = {},
  backOffice,
  log,
  sharedWith,
  database: existing,
  furtherRoutes = [],
}: Options = {}): Promise<TestApi> {
  const database = sharedWith ? shareDatabase(sharedWith.database) : (existing ?? (await createTestDatabase()))
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-tls-'))
  const secret = sharedWith?.secret ?? existing?.secret ?? randomBytes(32).toString('hex')
  const keys = deriveKeys(secret)
  const config = readConfig({ PORT: '0', DATA_DIR: directory, LOG_LEVEL: 'silent', ...environment })
  const { db } = database
  const installation = { db, keys, migrated: [], close: async () => {} }
  const app = await composeApp(config, log ?? pino({ level: config.logLevel }), installation)
  const backOffices: typeof app.backOffices = backOffice ? { ...app.backOffices, get: backOffice } : app.backOffices
  const listening = await listen({ ...app, backOffices }, { definitions: [...routes, ...furtherRoutes] })
  const ca = listening.caFile ? await readFile(listening.caFile, 'utf8') : ''
  const agent = new Agent({ keepAlive: true, ca, maxSockets: 200 })

  const sendRaw = (path: string, { method = 'GET', headers = {}, body }: RequestOptions = {}) =>
    new Promise<TestResponse>((resolve, reject) => {
      const clientRequest = request(
        `${listening.baseUrl}${path}`,
        { method, agent, headers: headers as Record<string, string> },
        response => {
          const chunks: Buffer[] = []
          response.on('data', chunk => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            const isJson = /[/+]json/.test(String(response.headers['content-type']))
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              json: isJson && text ? JSON.parse(text) : undefined,
            })
          })
        },
      )
      clientRequest.on('error', reject)
      clientRequest.end(body)
    })

  const createCaller = (username: string, password: string, service: Service): Caller => {
    const credentials = {
      authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      'x-service-name': service.name,
    }
    const withCredentials = (headers: RequestOptions['headers'] = {}) =>
      Object.fromEntries(Object.entries({ ...credentials, ...headers }).filter(([, value]) => value !== undefined))
    return {
      username,
      password,
      service,
      get: (path, headers) => sendRaw(path, { headers: withCredentials(headers) }),
      request: (path, options = {}) => sendRaw(path, { ...options, headers: withCredentials(options.headers) }),
    }
  }

  const createAccount = async (accountRole: Role, service: Service) => {
    const username = `user${++nameCount}`
    const password = await addAccount(db, keys, username, service, accountRole)
    if (!password) throw new Error('the account already exists')
    return createCaller(username, password, service)
  }
  const createService = async (ownSettings: Partial<Settings> = {}) => {
    const service = await addService(db, `shop${++nameCount}`, ownSettings)
    if (!service) throw new Error('the service already exists')
    return createAccount(role, service)
  }

  const createFirstCaller = () => (existing?.service ? createAccount(role, existing.service) : createService(settings))
  const firstCaller = sharedWith
    ? createCaller(sharedWith.username, sharedWith.password, sharedWith.service)
    : await createFirstCaller()
  return {
    ...firstCaller,
    baseUrl: listening.baseUrl,
    ca,
    db,
    database,
    keys,
    secret,
    createAccount: (accountRole, service = firstCaller.service) => createAccount(accountRole, service),
    createService,
    sendRaw,
    async stop() {
      agent.destroy()
      await listening.close(1_000)
      await app.close()
      await database.drop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function shareDatabase({ connection }: TestDatabase): TestDatabase {
  const db = openTestDatabase(connection)
  return { db, connection, drop: () => db.close() }
}

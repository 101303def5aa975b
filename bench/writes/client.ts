import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { embedded } from '../src/backoffice/embedded/embedded.ts'
import type { Database } from '../src/db.ts'
import type { CustomerInput } from '../src/domain/customers/input.ts'
import type { OrderInput } from '../src/domain/orders/orders.ts'
import type { ReturnInput } from '../src/domain/orders/returns.ts'
import type { VoucherInput } from '../src/domain/vouchers/vouchers.ts'
import type { Finish, Write } from '../src/domain/write.ts'
import { ApiError } from '../src/errors.ts'
import { carryOut } from '../src/http/once/carrying-out.ts'
import { identityOf } from '../src/http/once/idempotency.ts'
import type { Keys } from '../src/secrets.ts'
import type { Service } from '../src/settings.ts'
import type { Running } from './processes.ts'

/** Each write, by whatever way; the JSON text of what was written. */
export interface Way {
  createCustomer(body: CustomerInput): Promise<string>
  lockVoucher(number: string, body: { validationId: string; lockSeconds: number }): Promise<string>
  issueVoucher(body: VoucherInput): Promise<string>
  placeOrder(body: OrderInput): Promise<string>
  createReturn(orderId: string, body: ReturnInput): Promise<string>
}

/** As a client does it, on so many connections at the most. */
export function overHttps({ port, ca }: Running, username: string, password: string, connections: number) {
  const agent = new Agent({ keepAlive: true, ca, maxSockets: connections })
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const standing = { authorization, 'x-service-name': username, 'content-type': 'application/json' }
  const ask = (method: string, path: string, body: object) =>
    new Promise<string>((resolve, reject) => {
      const text = JSON.stringify(body)
      const headers = { ...standing, 'idempotency-key': randomUUID(), 'content-length': Buffer.byteLength(text) }
      const target = { host: '127.0.0.1', servername: 'localhost', port, agent }
      const asked = request({ ...target, method, path, headers }, async (response: IncomingMessage) => {
        const answer = Buffer.concat(await response.toArray()).toString()
        if (response.statusCode === 200 || response.statusCode === 201) resolve(answer)
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${answer}`))
      })
      asked.on('error', reject).end(text)
    })
  const dataOf = (answer: string) => JSON.stringify(JSON.parse(answer).data)
  const way: Way = {
    createCustomer: body => ask('POST', '/customers', body),
    lockVoucher: (number, body) => ask('PUT', `/vouchers/${number}/lock`, body),
    issueVoucher: body => ask('POST', '/vouchers', body),
    placeOrder: async body => dataOf(await ask('POST', '/orders', body)),
    createReturn: (id, body) => ask('POST', `/orders/${id}/returns`, body),
  }
  return { way, end: () => agent.destroy() }
}

/** What the service does for it in the database, and nothing else. */
export function overPool(db: Database, keys: Keys, service: Service): Way {
  const backOffice = embedded(service)
  const write = async (operation: string, body: object, work: (write: Write) => Promise<Finish<object>>) => {
    const requestId = randomUUID()
    const by = { username: 'bench', requestId, origin: { address: '127.0.0.1' } }
    const identity = identityOf(keys, service, operation, requestId, JSON.stringify(body))
    const requested = { ...by, operation, params: {}, body }
    const answer = await carryOut({ db, keys }, service, identity, requested, async carrying => {
      const finish = await work({ ...by, ...carrying, service, keys, requireMatch: () => {} })
      return async tx => {
        const written = await finish(tx)
        if (written instanceof ApiError) return written
        const text = 'record' in written ? String(written.record) : JSON.stringify(written)
        return {
          answer: { status: 201, body: text, headers: {} },
          audited: { ...by, operation, subject: operation, body },
        }
      }
    })
    return answer.body
  }
  return {
    createCustomer: body => write('POST /customers', body, by => backOffice.createCustomer(by, body)),
    lockVoucher: (number, body) =>
      write('PUT /vouchers/:number/lock', body, by => backOffice.lockVoucher(by, { number, ...body })),
    issueVoucher: body => write('POST /vouchers', body, by => backOffice.issueVoucher(by, body)),
    placeOrder: body => write('POST /orders', body, by => backOffice.placeOrder(by, body)),
    createReturn: (id, body) => write('POST /orders/:id/returns', body, by => backOffice.createReturn(by, id, body)),
  }
}

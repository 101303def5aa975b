import { sql } from '../../../src/database/db.ts'
import { addAuditEntry } from '../../../src/store/audit/audit.ts'
import { addLogEntries } from '../postgres/log-entries.ts'
import type { TestApi } from '../service.ts'

/** Returns operations of a healthy shop with their outcomes. */
const listOperations = (
  order: string,
  customer: string,
): [operation: string, subject: string, status: number, code?: string][] => [
  ['POST /orders', order, 201],
  ['GET /orders/:id', order, 200],
  ['PUT /customers/:id', customer, 200],
  ['GET /inventory/search', '/inventory/search', 200],
  ['POST /customers', '/customers', 409, 'email_taken'],
  ['GET /customers/:id', '/customers/70011', 404, 'not_found'],
  ['POST /orders', '/orders', 503, 'back_office_unavailable'],
  ['GET /changes', '/changes', 200],
  ['POST /customers', '/customers', 409, 'email_taken'],
  ['POST /returns', '/returns', 422, 'sku_not_on_order'],
]

/** Logs sample requests. Returns the ID of the newest, which placed an order in a back office. */
export async function logSampleRequests(
  { db, service, username }: TestApi,
  order: string,
  customer: string,
): Promise<string> {
  const operations = listOperations(order, customer)
  const now = Date.now()
  const lines = Array.from({ length: 60 }, (_, i) => {
    const [operation, subject, status, code] = operations[(i * 7) % operations.length] ?? [
      'GET /stores',
      '/stores',
      200,
    ]
    const isOrder = operation === 'POST /orders'
    const milliseconds = isOrder ? 300 + i : 6 + ((i * 13) % 40) / 3
    const calls = [
      { name: 'GET Persons', at: 3.2, milliseconds: 61.4, outcome: '200' },
      { name: 'POST Orders', at: 66.1, milliseconds: milliseconds - 90, outcome: code ? 'no connection' : '201' },
    ]
    return {
      at: now - i * 97_000,
      requestId: crypto.randomUUID(),
      username,
      operation,
      path: subject,
      subject,
      status,
      code,
      milliseconds,
      statements: isOrder ? 11 : 2,
      databaseMs: isOrder ? 9.6 : 1.3,
      steps: [{ name: 'admission', at: 0.2, milliseconds: 0.6 }, ...(isOrder ? calls : [])],
    }
  })
  await addLogEntries(db, service, lines)
  await db.run(sql`
    insert into request_minute (service_id, minute, answered, rejected, failed)
    select ${service.id}, minute, answered, (answered * (0.02 + 0.02 * sin(n / 9.0)))::integer, case when n between 300 and 318 then answered / 4 else 0 end
      from generate_series(1, 1439) n,
           lateral (select date_trunc('minute', now()) - n * interval '1 minute' as minute, (120 + 90 * sin(n / 229.0) + 20 * sin(n * n))::integer as answered) sample
        on conflict (service_id, minute) do update set answered = excluded.answered`)
  const [newest] = lines
  if (!newest) throw new Error('no sample requests')
  const body = { orderNumber: '', customerId: '', lines: [{ sku: '', quantity: 1, price: '' }] }
  await db.transaction(tx =>
    addAuditEntry(tx, service, {
      username,
      operation: newest.operation,
      subject: newest.subject,
      body,
      requestId: newest.requestId,
    }),
  )
  return newest.requestId
}

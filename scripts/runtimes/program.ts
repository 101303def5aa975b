import { type Connection, NotFoundError, tillbridge, verifyWebhook, WebhookError } from '../../client/src/index.ts'

/** The results of the client program. They must be the same in each runtime. */
export interface Outcome {
  stores: number
  title: string
  /** The number of customers with the new email address. */
  customersWritten: number
  missing: string
  followed: string
  rejectedSignature: string
}

/**
 * Uses the client as a program would: paginates a list, writes, handles an error, follows changes, verifies a
 * delivery.
 */
export async function program(connection: Connection): Promise<Outcome> {
  const client = tillbridge(connection)
  const stores = await client.stores.list().all()
  const email = `${crypto.randomUUID()}@example.com`
  const created = await client.customers.create({ firstname: 'Ann', surname: 'Lee', contact: { email } })
  const changed = await client.customers.update(created.id, { title: 'Dr' }, { ifMatch: created })
  const customers = await client.customers.find({ email }).all()
  const missing = await client.customers.get('nobody').then(
    () => 'found',
    error => (error instanceof NotFoundError ? error.code : String(error)),
  )
  let followed = ''
  for await (const change of client.follow({ kinds: ['customer'] }))
    if (change.id === created.id) {
      followed = change.action
      break
    }
  const headers = new Headers({ 'webhook-id': 'd1', 'webhook-timestamp': '0', 'webhook-signature': 'v1,AAAA' })
  const rejectedSignature = await verifyWebhook('{}', headers, ['whsec_bmV3']).then(
    () => 'believed',
    error => (error instanceof WebhookError ? error.code : String(error)),
  )
  return {
    stores: stores.length,
    title: changed.title ?? '',
    customersWritten: customers.length,
    missing,
    followed,
    rejectedSignature,
  }
}

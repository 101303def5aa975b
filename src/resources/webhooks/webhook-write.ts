import type { Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { notFound } from '../../errors/api-error.ts'
import type { WriteContext } from '../../http/routing/writes.ts'
import { type Endpoint, findWebhookRecord, lockWebhook } from '../../store/webhooks/endpoints.ts'

export const [tag, role, kind] = ['Webhooks', 'admin', 'webhook'] as const
export const webhookParams = { id: { description: 'The webhook.', example: '7f0f2f3e-5f4e-4f3c-9b1a-0d6a4d1c2b3a' } }
export const path = '/webhooks/:id'
export const buildPath = (id: string) => `/webhooks/${id}`

/** The context of a write to one webhook. */
export type WebhookWriteContext = Pick<WriteContext<unknown, typeof webhookParams>, 'service' | 'params'>

/** Locks and changes a webhook. Returns its new record. */
export const applyChange =
  ({ service, params: { id } }: WebhookWriteContext, change: (tx: Db, before: Endpoint) => Promise<unknown>) =>
  async (tx: Db) => {
    await change(tx, await lockOrThrow(tx, service, id))
    return { data: await readWebhook(tx, service, id), subject: buildPath(id) }
  }

/** Locks a webhook until the transaction ends. Throws a 404 if it does not exist. */
export async function lockOrThrow(tx: Db, service: Service, id: string): Promise<Endpoint> {
  const endpoint = await lockWebhook(tx, service, id)
  if (!endpoint) throw notFound(kind)
  return endpoint
}

/** Returns a locked webhook as the API shows it. */
export async function readWebhook(tx: Db, service: Service, id: string) {
  const webhook = await findWebhookRecord(tx, service, id)
  if (!webhook) throw new Error('locked webhook not found')
  return JSON.parse(webhook.record)
}

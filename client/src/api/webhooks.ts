// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Walk } from '../calls/walk.ts'
import type { IssuedWebhook, RemovedWebhook, Rewind, Webhook, WebhookAttempt, WebhookChange, WebhookInput } from '../shapes/webhooks.ts'

/** Endpoints that receive change notifications (Standard Webhooks). */
export interface WebhooksApi {
  /** List webhooks. With where each stands, and whether it takes what it is told. */
  list(query?: Paging, options?: CallOptions): Walk<Webhook>
  /** Get a webhook. With where it stands, and whether it takes what it is told. Its secret is never shown again. */
  get(id: string, options?: CallOptions): Promise<Webhook>
  /** Create a webhook. What changes from now on is posted to it, at most 100 changes at a time, one delivery after the other; with `fromBeginning` everything as it stands comes first. The secret in this answer verifies deliveries (Standard Webhooks). In the answer to a trial null, unless the body says it: `id`, `secret`, `cursor`. */
  create(body: WebhookInput, options?: WriteOptions): Promise<IssuedWebhook>
  /** Update a webhook. What the body does not mention stays. Of kinds that are new to it, it is told what changes from now on. A delivery that is being repeated goes to the new `url`, at once. */
  update(id: string, body: WebhookChange, options?: WriteOptions): Promise<Webhook>
  /** Delete a webhook. With its attempts. A delivery that is on its way may still arrive. */
  delete(id: string, options?: WriteOptions): Promise<RemovedWebhook>
  /** Send a test event. Signed like any delivery, of type `webhook.test`; the answer says what became of it. Also while it is paused. In the answer to a trial null, unless the body says it: `id`, `deliveryId`. */
  test(id: string, options?: WriteOptions): Promise<WebhookAttempt>
  /** Pause a webhook. Changes wait until the webhook is resumed. */
  pause(id: string, options?: WriteOptions): Promise<Webhook>
  /** Resume a webhook. Deliveries continue at once, from the cursor of the webhook. */
  resume(id: string, options?: WriteOptions): Promise<Webhook>
  /** Replay changes to a webhook. As it stands now: a record that has changed several times since then is told of once. A delivery that is being repeated is given up. */
  rewind(id: string, body: Rewind, options?: WriteOptions): Promise<Webhook>
  /** Rotate a signing secret. Deliveries carry signatures of both for 24 hours; then the one before ends. In the answer to a trial null, unless the body says it: `secret`. */
  rotateSecret(id: string, options?: WriteOptions): Promise<IssuedWebhook>
  /** List delivery attempts. Of the last 30 days. What was delivered is not kept. */
  attempts(id: string, query?: Paging, options?: CallOptions): Walk<WebhookAttempt>
}

export const webhooks = (call: Calls): WebhooksApi => ({
  list: (query, options) => call.list('/webhooks', query, options),
  get: (id, options) => call.get(`/webhooks/${segment(id)}`, {}, options),
  create: (body, options) => call.post('/webhooks', body, options),
  update: (id, body, options) => call.put(`/webhooks/${segment(id)}`, body, options),
  delete: (id, options) => call.delete(`/webhooks/${segment(id)}`, undefined, options),
  test: (id, options) => call.post(`/webhooks/${segment(id)}/test`, undefined, options),
  pause: (id, options) => call.post(`/webhooks/${segment(id)}/pause`, undefined, options),
  resume: (id, options) => call.post(`/webhooks/${segment(id)}/resume`, undefined, options),
  rewind: (id, body, options) => call.post(`/webhooks/${segment(id)}/rewind`, body, options),
  rotateSecret: (id, options) => call.post(`/webhooks/${segment(id)}/rotate-secret`, undefined, options),
  attempts: (id, query, options) => call.list(`/webhooks/${segment(id)}/attempts`, query, options),
})

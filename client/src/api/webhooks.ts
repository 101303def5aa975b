// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { IssuedWebhook, RemovedWebhook, Rewind, Webhook, WebhookAttempt, WebhookChange, WebhookInput } from '../shapes/webhooks.ts'

/** Endpoints that receive change notifications (Standard Webhooks). */
export interface WebhooksApi {
  /** List webhooks. Each webhook has its state, cursor and lag. */
  list(query?: Paging, options?: CallOptions): Paginator<Webhook>
  /** Get a webhook. The webhook with its state, cursor and lag, without its secret. */
  get(id: string, options?: CallOptions): Promise<Webhook>
  /** Create a webhook. Sends changes from now on, at most 100 per delivery, one delivery at a time. With `fromBeginning`, all existing records come first. Use the secret in this response to verify deliveries (Standard Webhooks). It is shown only once. Null in a dry run unless sent: `id`, `secret`, `cursor`. */
  create(body: WebhookInput, options?: WriteOptions): Promise<IssuedWebhook>
  /** Update a webhook. Keeps fields that the body doesn't mention. For added kinds, changes from now on are delivered. A delivery that is being retried goes to the new `url` at once. */
  update(id: string, body: WebhookChange, options?: WriteOptions): Promise<Webhook>
  /** Delete a webhook. Deletes the webhook and its attempts. A delivery that is in flight can still arrive. */
  delete(id: string, options?: WriteOptions): Promise<RemovedWebhook>
  /** Send a test event. Sends a signed `webhook.test` event and returns the attempt. It works for paused webhooks too. Null in a dry run unless sent: `id`, `deliveryId`. */
  test(id: string, options?: WriteOptions): Promise<WebhookAttempt>
  /** Pause a webhook. Changes wait until the webhook is resumed. */
  pause(id: string, options?: WriteOptions): Promise<Webhook>
  /** Resume a webhook. Deliveries continue at once, from the cursor of the webhook. */
  resume(id: string, options?: WriteOptions): Promise<Webhook>
  /** Replay changes to a webhook. Sends each record that has changed since then once, in its current state. A delivery that is being retried is abandoned. */
  rewind(id: string, body: Rewind, options?: WriteOptions): Promise<Webhook>
  /** Rotate a signing secret. Both secrets sign deliveries for 24 hours. After that, only the new one does. Null in a dry run unless sent: `secret`. */
  rotateSecret(id: string, options?: WriteOptions): Promise<IssuedWebhook>
  /** List delivery attempts. The attempts of the last 30 days, newest first. */
  attempts(id: string, query?: Paging, options?: CallOptions): Paginator<WebhookAttempt>
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

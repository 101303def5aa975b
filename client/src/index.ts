export { type About, aboutAnswer } from './calls/answers.ts'
export type { CallOptions, Paging, WriteOptions } from './calls/calls.ts'
export {
  AccessError,
  ConflictError,
  InvalidRequestError,
  NotFoundError,
  OutcomeUnknownError,
  TillbridgeError,
  TooManyError,
  UnavailableError,
} from './calls/errors.ts'
export type { Fetch } from './calls/exchange.ts'
export type { Connection } from './calls/transport.ts'
export { type Page, Walk } from './calls/walk.ts'
export { type Tillbridge, tillbridge } from './client.ts'
export type { Following } from './follow.ts'
export type * from './shapes/index.ts'
export { verifyWebhook, type WebhookDelivery, WebhookError, type WebhookHeaders } from './webhooks.ts'

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
export type { Fetch } from './calls/http.ts'
export { type Page, Paginator } from './calls/paginator.ts'
export { type ResponseMeta, responseMeta } from './calls/response-meta.ts'
export type { Connection } from './calls/transport.ts'
export { type Tillbridge, tillbridge } from './client.ts'
export type { FollowOptions } from './follow.ts'
export type * from './shapes/index.ts'
export { verifyWebhook, type WebhookDelivery, WebhookError, type WebhookHeaders } from './webhooks.ts'

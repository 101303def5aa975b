// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { Customer, CustomerChange, CustomerInput } from '../shapes/customers.ts'
import type { Order } from '../shapes/orders.ts'
import type { RetailTransaction } from '../shapes/transactions.ts'
import type { RewardAccount } from '../shapes/rewards.ts'

/** Shopper profiles and marketing consent. */
export interface CustomersApi {
  /** Search customers. Ordered by change time, then ID. With `name`, the list contains the customers whose names begin with it, ordered by surname, first name and ID. */
  search(query?: Paging & {
    /** Only records that changed later than this. Send the `asOf` of the previous list to receive all later changes. */
    updatedAfter?: string | Date | undefined
    /** The beginning of a surname, or a surname and the beginning of a first name: `smith`, `Smith, Jo`. Case and accents are ignored. Can't be combined with `updated_after`. */
    name?: string | undefined
  }, options?: CallOptions): Paginator<Customer>
  /** Find a customer by email. Send exactly one of `email` and `updated_after`. With `updated_after`, both e-commerce identifiers are absent. If the back office is older than version 2022.1, the list is empty with a warning, or an error with `Prefer: handling=strict`. */
  find(query?: Paging & {
    /** The exact email address, ignoring case. Write `+` as `%2B` in a URL. */
    email?: string | undefined
    /** Only records that changed later than this. Send the `asOf` of the previous list to receive all later changes. */
    updatedAfter?: string | Date | undefined
  }, options?: CallOptions): Paginator<Customer>
  /** Get a customer. The customer with loyalty program, joined store and both e-commerce identifiers. */
  get(id: string, options?: CallOptions): Promise<Customer>
  /** Create a customer. Requires `firstname`, `surname` and `contact.email`. If `emailSubscription` or `smsSubscription` is true, `privacy` becomes false, whatever the body contains (warning `privacy_overridden`). Otherwise, `privacy: true` ends both subscriptions (warning `subscriptions_ended`). A subscription also changes the reference in the setting `subscriptionMapping`. Without a mapping, Tillbridge stores the flag itself (warning `subscription_not_mapped`). Every change of consent is recorded. Null in a dry run unless sent: `id`, `code`. */
  create(body: CustomerInput, options?: WriteOptions): Promise<Customer>
  /** Update a customer. Keeps fields that the body does not contain, also within `contact.phones` and `address`. `null` or an empty string clears a field. Read-only fields such as `code` can be sent unchanged, but another value is rejected. `updateTimeStamp` is always rejected. A stored value that violates a rule can be sent unchanged too. If `emailSubscription` or `smsSubscription` is true, `privacy` becomes false, whatever the body contains (warning `privacy_overridden`). Otherwise, `privacy: true` ends both subscriptions (warning `subscriptions_ended`). A subscription also changes the reference in the setting `subscriptionMapping`. Without a mapping, Tillbridge stores the flag itself (warning `subscription_not_mapped`). Every change of consent is recorded. */
  update(id: string, body: CustomerChange, options?: WriteOptions): Promise<Customer>
  /** List a customer's transactions. Newest first. Tillbridge requests the history from a back office that has it. If the back office does not respond within a few seconds, the list contains the last stored history, with a warning. `meta.syncedAt` is the time of its last sync. */
  transactions(id: string, query?: Paging & {
    /** Only transactions sold later than this. */
    soldAfter?: string | Date | undefined
    /** Only transactions sold earlier than this. */
    soldBefore?: string | Date | undefined
  }, options?: CallOptions): Paginator<RetailTransaction>
  /** List a customer's orders. Newest first. For the first page, Tillbridge requests the orders from a back office that has its own. If the back office does not respond within a few seconds, the list contains the orders stored in Tillbridge, with a warning. */
  orders(id: string, query?: Paging, options?: CallOptions): Paginator<Order>
  /** Get a customer's rewards. Read from the back office at the time of the request, never from a copy. If the back office is unavailable, the response is 503. */
  rewards(id: string, options?: CallOptions): Promise<RewardAccount>
}

export const customers = (call: Calls): CustomersApi => ({
  search: (query, options) => call.list('/customers/search', query, options),
  find: (query, options) => call.list('/customers', query, options),
  get: (id, options) => call.get(`/customers/${segment(id)}`, {}, options),
  create: (body, options) => call.post('/customers', body, options),
  update: (id, body, options) => call.put(`/customers/${segment(id)}`, body, options),
  transactions: (id, query, options) => call.list(`/customers/${segment(id)}/transactions`, query, options),
  orders: (id, query, options) => call.list(`/customers/${segment(id)}/orders`, query, options),
  rewards: (id, options) => call.get(`/customers/${segment(id)}/rewards`, {}, options),
})

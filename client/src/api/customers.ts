// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, Paging, WriteOptions } from '../calls/calls.ts'
import { segment } from '../calls/calls.ts'
import type { Paginator } from '../calls/paginator.ts'
import type { Customer, CustomerChange, CustomerInput } from '../shapes/customers.ts'
import type { RetailTransaction } from '../shapes/transactions.ts'
import type { Order } from '../shapes/orders.ts'
import type { RewardAccount } from '../shapes/rewards.ts'

/** Shopper profiles and marketing consent. */
export interface CustomersApi {
  /** Search customers. Ordered by change time, then id; with loyalty programme and joined store. With `name` it is a look-up instead: those whose names begin with it, as they are now, in the order of a directory: surname, first name, id. */
  search(query?: Paging & {
    /** Only records that changed later than this. Send the `asOf` of the previous list to receive all later changes. */
    updatedAfter?: string | Date | undefined
    /** The beginning of a surname, or the surname and the beginning of a first name: `smith`, `Smith, Jo`. Case and accents do not matter. Not together with `updated_after`. */
    name?: string | undefined
  }, options?: CallOptions): Paginator<Customer>
  /** Find a customer by email. Takes exactly one of `email` and `updated_after`. With `updated_after` both e-commerce identifiers are absent, and below release 2022.1 of the back office the list is empty, with a warning; `Prefer: handling=strict` makes that an error. */
  find(query?: Paging & {
    /** Exactly this e-mail address, whatever its case. */
    email?: string | undefined
    /** Only records that changed later than this. Send the `asOf` of the previous list to receive all later changes. */
    updatedAfter?: string | Date | undefined
  }, options?: CallOptions): Paginator<Customer>
  /** Get a customer. With loyalty programme, joined store and both e-commerce identifiers. */
  get(id: string, options?: CallOptions): Promise<Customer>
  /** Create a customer. Needs `firstname`, `surname` and `contact.email`. With `emailSubscription` or `smsSubscription` true, `privacy` becomes false, whatever the body says: `privacy_overridden` warns of it. Else `privacy` true ends both subscriptions, of which `subscriptions_ended` warns. Both change the reference that the service's subscription mapping names; without a mapping the flag is kept by the service, and `subscription_not_mapped` warns of that. Every change of consent is recorded. In a dry run, these fields are null unless the body contains them: `id`, `code`. */
  create(body: CustomerInput, options?: WriteOptions): Promise<Customer>
  /** Update a customer. What the body does not mention stays, also within `contact.phones` and `address`; `null` clears. An empty text is `null`. What the service keeps itself, such as `code`, may come back as it was read, and is refused where it is another; `updateTimeStamp` is always refused. A value that is stored although no body may set it may come back too. With `emailSubscription` or `smsSubscription` true, `privacy` becomes false, whatever the body says: `privacy_overridden` warns of it. Else `privacy` true ends both subscriptions, of which `subscriptions_ended` warns. Both change the reference that the service's subscription mapping names; without a mapping the flag is kept by the service, and `subscription_not_mapped` warns of that. Every change of consent is recorded. */
  update(id: string, body: CustomerChange, options?: WriteOptions): Promise<Customer>
  /** List a customer's transactions. A back office that keeps the history is asked for it. Where it does not answer within a few seconds, the list is what was last known of it: a warning says so, and `meta.syncedAt` how old that is. */
  transactions(id: string, query?: Paging & {
    /** Only what was sold later than this. */
    soldAfter?: string | Date | undefined
    /** Only what was sold earlier than this. */
    soldBefore?: string | Date | undefined
  }, options?: CallOptions): Paginator<RetailTransaction>
  /** List a customer's orders. Each with its lines and its payments. A back office that keeps orders of its own is asked for them, for the first page. Where it does not answer within a few seconds, the list is what is known here: a warning says so. */
  orders(id: string, query?: Paging, options?: CallOptions): Paginator<Order>
  /** Get a customer's rewards. What the back office says at this moment, never what it said some time ago: where it cannot be reached there is no answer. */
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

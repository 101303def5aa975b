import { Customer } from '../domain/customers/customers.ts'
import { CustomerChange, CustomerInput } from '../domain/customers/input.ts'
import { RetailTransaction } from '../domain/orders/transactions.ts'
import { RewardAccount } from '../domain/rewards/rewards.ts'
import { ApiError, type FieldError, notFound } from '../errors/api-error.ts'
import { EmailFilter, Filter, updatedAfterParameter, withoutExample } from '../http/pagination/lists.ts'
import { get, list, post, put } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { findCustomer, readCustomerPage } from '../store/customers/customers.ts'
import { createEmptyPage } from '../store/lists/page.ts'
import { readTransactionPage } from '../store/orders/transactions.ts'
import { mapCommitPhase } from '../writes/write.ts'
import { liveRewardsDescription } from './rewards.ts'
import { soldBetween, validateSoldRange } from './transactions.ts'

const tag = 'Customers'
/** The parameter of the paths of a customer. */
export const customerParams = { id: { description: 'The customer.', example: '65432' } }

const consent =
  'If `emailSubscription` or `smsSubscription` is true, `privacy` becomes false, whatever the body contains (warning `privacy_overridden`). Otherwise, `privacy: true` ends both subscriptions (warning `subscriptions_ended`). A subscription also changes the reference in the setting `subscriptionMapping`. Without a mapping, Tillbridge stores the flag itself (warning `subscription_not_mapped`). Every change of consent is recorded.'

const buildExclusiveError = (parameter: string): FieldError => ({
  parameter,
  code: 'invalid_parameter',
  detail: 'Send exactly one of `email` and `updated_after`.',
})

const nameConflict: FieldError = {
  parameter: 'name',
  code: 'invalid_parameter',
  detail: "`name` and `updated_after` can't be combined.",
}

const buildPath = (id: string) => `/customers/${encodeURIComponent(id)}`

/** Customers, their transactions and their rewards. */
export const customers = [
  list(
    '/customers/search',
    {
      operationId: 'searchCustomers',
      sync: 'customers',
      requires: 'signUpStore',
      tag,
      summary: 'Search customers',
      description:
        'Ordered by change time, then ID. With `name`, the list contains the customers whose names begin with it, ordered by surname, first name and ID.',
      query: Type.Object({
        updated_after: updatedAfterParameter,
        name: withoutExample(
          Filter(
            "The beginning of a surname, or a surname and the beginning of a first name: `smith`, `Smith, Jo`. Case and accents are ignored. Can't be combined with `updated_after`.",
            'smith jo',
            101,
          ),
        ),
      }),
      item: Customer,
      validate: (_, names) => (names.has('name') && names.has('updated_after') ? [nameConflict] : []),
    },
    ({ db, service, query: { updated_after: updatedAfter, name } }, page) =>
      readCustomerPage(db, service, { updatedAfter, name, ecommerceIds: true }, page),
  ),

  list(
    '/customers',
    {
      operationId: 'findCustomers',
      sync: 'customers',
      tag,
      summary: 'Find a customer by email',
      description:
        'Send exactly one of `email` and `updated_after`. With `updated_after`, both e-commerce identifiers are absent. If the back office is older than version 2022.1, the list is empty with a warning, or an error with `Prefer: handling=strict`.',
      supportsStrict: true,
      query: Type.Object({
        email: EmailFilter(),
        updated_after: withoutExample(updatedAfterParameter),
      }),
      item: Customer,
      errors: ['capability_unavailable'],
      validate: (_, names) =>
        names.has('email') === names.has('updated_after')
          ? [buildExclusiveError(names.has('email') ? 'updated_after' : 'email')]
          : [],
    },
    async ({ db, service, backOffice, query, strict }, page) => {
      const { email, updated_after } = query
      if (updated_after === undefined) return readCustomerPage(db, service, { email, ecommerceIds: true }, page)

      const { capabilities } = await backOffice.capabilities()
      const missing = capabilities.find(
        capability => capability.name === 'customersUpdatedAfter' && !capability.available,
      )
      if (!missing) return readCustomerPage(db, service, { updatedAfter: updated_after, ecommerceIds: false }, page)
      const detail = missing.reason ?? ''
      if (strict) throw new ApiError('capability_unavailable', detail)
      // The list is empty, so the next poll begins at the same timestamp.
      return { page: createEmptyPage(updated_after), warnings: [{ code: 'capability_unavailable', detail }] }
    },
  ),

  get(
    '/customers/:id',
    {
      operationId: 'getCustomer',
      tag,
      summary: 'Get a customer',
      description: 'The customer with loyalty program, joined store and both e-commerce identifiers.',
      params: customerParams,
      response: Customer,
      recordName: 'customer',
      etag: true,
    },
    ({ db, service, params }) => findCustomer(db, service, params.id),
  ),

  post(
    '/customers',
    {
      operationId: 'createCustomer',
      tag,
      summary: 'Create a customer',
      description: `Requires \`firstname\`, \`surname\` and \`contact.email\`. ${consent}`,
      body: CustomerInput,
      generated: ['id', 'code'],
      response: Customer,
      etag: true,
      warns: true,
      errors: ['email_taken'],
    },
    async ({ body, backOffice, ...write }) =>
      mapCommitPhase(await backOffice.createCustomer(write, body), ({ id, ...written }) => ({
        ...written,
        subject: buildPath(id),
      })),
  ),

  put(
    '/customers/:id',
    {
      operationId: 'updateCustomer',
      tag,
      summary: 'Update a customer',
      description: `Keeps fields that the body does not contain, also within \`contact.phones\` and \`address\`. \`null\` or an empty string clears a field. Read-only fields such as \`code\` can be sent unchanged, but another value is rejected. \`updateTimeStamp\` is always rejected. A stored value that violates a rule can be sent unchanged too. ${consent}`,
      params: customerParams,
      body: CustomerChange,
      loadStored: (db, service, { id }) => findCustomer(db, service, id),
      response: Customer,
      etag: true,
      warns: true,
      errors: ['email_taken', 'precondition_failed', 'precondition_required'],
    },
    async ({ body, params, backOffice, ...write }) =>
      mapCommitPhase(await backOffice.updateCustomer(write, params.id, body), changed => {
        if (!changed) throw notFound('customer')
        const { id, ...written } = changed
        return { ...written, subject: buildPath(id) }
      }),
  ),

  list(
    '/customers/:id/transactions',
    {
      operationId: 'listCustomerTransactions',
      tag: 'Retail transactions',
      summary: "List a customer's transactions",
      description:
        'Newest first. Tillbridge requests the history from a back office that has it. If the back office does not respond within a few seconds, the list contains the last stored history, with a warning. `meta.syncedAt` is the time of its last sync.',
      params: customerParams,
      query: Type.Object(soldBetween),
      item: RetailTransaction,
      errors: ['not_found', 'date_range_inverted'],
      validate: validateSoldRange,
    },
    async (
      { backOffice, db, service, params, query: { sold_after: soldAfter, sold_before: soldBefore } },
      pageRequest,
    ) => {
      if (!(await findCustomer(db, service, params.id))) throw notFound('customer')
      const { warning, syncedAt } = (await backOffice.refreshHistory({ db, service }, params.id)) ?? {}
      const page = await readTransactionPage(db, service, { customerId: params.id, soldAfter, soldBefore }, pageRequest)
      return { page, syncedAt, ...(warning && { warnings: [warning] }) }
    },
  ),

  get(
    '/customers/:id/rewards',
    {
      operationId: 'getCustomerRewards',
      tag: 'Rewards',
      summary: "Get a customer's rewards",
      description: liveRewardsDescription,
      params: customerParams,
      response: RewardAccount,
      recordName: 'reward account',
      etag: true,
      errors: ['back_office_error', 'back_office_unavailable'],
    },
    ({ backOffice, db, service, params }) => backOffice.rewardAccount({ db, service }, { customerId: params.id }),
  ),
]

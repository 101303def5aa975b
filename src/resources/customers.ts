import { Customer } from '../domain/customers/customers.ts'
import { CustomerChange, CustomerInput } from '../domain/customers/input.ts'
import { RetailTransaction } from '../domain/orders/transactions.ts'
import { RewardAccount } from '../domain/rewards/rewards.ts'
import { ApiError, type FieldError, notFound } from '../errors/api-error.ts'
import { Filter, updatedAfter, withoutExample } from '../http/pagination/lists.ts'
import { get, list, post, put } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { customerPage, customerRecord } from '../store/customers/customers.ts'
import { emptyPage } from '../store/lists/page.ts'
import { transactionPage } from '../store/orders/transactions.ts'
import { after } from '../writes/write.ts'
import { liveRewards } from './rewards.ts'
import { faultsOfSold, soldBetween } from './transactions.ts'

const tag = 'Customers'
/** What paths of one customer name. */
export const ofCustomer = { id: { description: 'The customer.', example: '65432' } }

const consent =
  "With `emailSubscription` or `smsSubscription` true, `privacy` becomes false, whatever the body says: `privacy_overridden` warns of it. Else `privacy` true ends both subscriptions, of which `subscriptions_ended` warns. Both change the reference that the service's subscription mapping names; without a mapping the flag is kept by the service, and `subscription_not_mapped` warns of that. Every change of consent is recorded."

const oneOf = (parameter: string): FieldError => ({
  parameter,
  code: 'invalid_parameter',
  detail: 'Send exactly one of `email` and `updated_after`.',
})

const nameAlone: FieldError = {
  parameter: 'name',
  code: 'invalid_parameter',
  detail: "`name` and `updated_after` can't be combined.",
}

const pathOf = (id: string) => `/customers/${encodeURIComponent(id)}`

/** Contract 4. */
export const customers = [
  list(
    '/customers/search',
    {
      operationId: 'searchCustomers',
      sync: 'customers',
      needs: 'signUpStore',
      tag,
      summary: 'Search customers',
      description:
        'Ordered by change time, then id; with loyalty programme and joined store. With `name` it is a look-up instead: those whose names begin with it, as they are now, in the order of a directory: surname, first name, id.',
      query: Type.Object({
        updated_after: updatedAfter,
        name: withoutExample(
          Filter(
            'The beginning of a surname, or the surname and the beginning of a first name: `smith`, `Smith, Jo`. Case and accents do not matter. Not together with `updated_after`.',
            'smith jo',
            101,
          ),
        ),
      }),
      item: Customer,
      judge: (_, given) => (given.has('name') && given.has('updated_after') ? [nameAlone] : []),
    },
    ({ db, service, query: { updated_after: updatedAfter, name } }, asked) =>
      customerPage(db, service, { updatedAfter, name, ecommerceIds: true }, asked),
  ),

  list(
    '/customers',
    {
      operationId: 'findCustomers',
      sync: 'customers',
      tag,
      summary: 'Find a customer by email',
      description:
        'Takes exactly one of `email` and `updated_after`. With `updated_after` both e-commerce identifiers are absent, and below release 2022.1 of the back office the list is empty, with a warning; `Prefer: handling=strict` makes that an error.',
      heedsStrict: true,
      query: Type.Object({
        email: Filter('Exactly this e-mail address, whatever its case.', 'john.smith@example.com'),
        updated_after: withoutExample(updatedAfter),
      }),
      item: Customer,
      errors: ['capability_unavailable'],
      judge: (_, given) =>
        given.has('email') === given.has('updated_after')
          ? [oneOf(given.has('email') ? 'updated_after' : 'email')]
          : [],
    },
    async ({ db, service, backOffice, query, strict }, asked) => {
      const { email, updated_after } = query
      if (updated_after === undefined) return customerPage(db, service, { email, ecommerceIds: true }, asked)

      const { capabilities } = await backOffice.capabilities()
      const lacking = capabilities.find(
        capability => capability.name === 'customersUpdatedAfter' && !capability.available,
      )
      if (!lacking) return customerPage(db, service, { updatedAfter: updated_after, ecommerceIds: false }, asked)
      const detail = lacking.reason ?? ''
      if (strict) throw new ApiError('capability_unavailable', detail)
      // Nothing was shown, so the next poll begins where this one did.
      return { page: emptyPage(updated_after), warnings: [{ code: 'capability_unavailable', detail }] }
    },
  ),

  get(
    '/customers/:id',
    {
      operationId: 'getCustomer',
      tag,
      summary: 'Get a customer',
      description: 'With loyalty programme, joined store and both e-commerce identifiers.',
      params: ofCustomer,
      answer: Customer,
      kind: 'customer',
      etag: true,
    },
    ({ db, service, params }) => customerRecord(db, service, params.id),
  ),

  post(
    '/customers',
    {
      operationId: 'createCustomer',
      tag,
      summary: 'Create a customer',
      description: `Needs \`firstname\`, \`surname\` and \`contact.email\`. ${consent}`,
      body: CustomerInput,
      made: ['id', 'code'],
      answer: Customer,
      etag: true,
      warns: true,
      errors: ['email_taken'],
    },
    async ({ body, backOffice, ...write }) =>
      after(await backOffice.createCustomer(write, body), ({ id, ...written }) => ({
        ...written,
        subject: pathOf(id),
      })),
  ),

  put(
    '/customers/:id',
    {
      operationId: 'updateCustomer',
      tag,
      summary: 'Update a customer',
      description: `What the body does not mention stays, also within \`contact.phones\` and \`address\`; \`null\` clears. An empty text is \`null\`. What the service keeps itself, such as \`code\`, may come back as it was read, and is refused where it is another; \`updateTimeStamp\` is always refused. A value that is stored although no body may set it may come back too. ${consent}`,
      params: ofCustomer,
      body: CustomerChange,
      stored: (db, service, { id }) => customerRecord(db, service, id),
      answer: Customer,
      etag: true,
      warns: true,
      errors: ['email_taken', 'precondition_failed', 'precondition_required'],
    },
    async ({ body, params, backOffice, ...write }) =>
      after(await backOffice.updateCustomer(write, params.id, body), changed => {
        if (!changed) throw notFound('customer')
        const { id, ...written } = changed
        return { ...written, subject: pathOf(id) }
      }),
  ),

  list(
    '/customers/:id/transactions',
    {
      operationId: 'listCustomerTransactions',
      tag,
      summary: "List a customer's transactions",
      description:
        'A back office that keeps the history is asked for it. Where it does not answer within a few seconds, the list is what was last known of it: a warning says so, and `meta.syncedAt` how old that is.',
      params: ofCustomer,
      query: Type.Object(soldBetween),
      item: RetailTransaction,
      errors: ['not_found', 'date_range_inverted'],
      judge: faultsOfSold,
    },
    async ({ backOffice, db, service, params, query: { sold_after: soldAfter, sold_before: soldBefore } }, asked) => {
      if (!(await customerRecord(db, service, params.id))) throw notFound('customer')
      const { warning, syncedAt } = (await backOffice.bringHistory({ db, service }, params.id)) ?? {}
      const page = await transactionPage(db, service, { customerId: params.id, soldAfter, soldBefore }, asked)
      return { page, syncedAt, ...(warning && { warnings: [warning] }) }
    },
  ),

  get(
    '/customers/:id/rewards',
    {
      operationId: 'getCustomerRewards',
      tag,
      summary: "Get a customer's rewards",
      description: liveRewards,
      params: ofCustomer,
      answer: RewardAccount,
      kind: 'reward account',
      etag: true,
      errors: ['back_office_error', 'back_office_unavailable'],
    },
    ({ backOffice, db, service, params }) => backOffice.rewardAccount({ db, service }, { customerId: params.id }),
  ),
]

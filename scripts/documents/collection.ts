/** A request of the collection. Path, method and description come from its operation in the OpenAPI document. */
interface CollectionRequest {
  operation: string
  /** Values of parameters, by name. `{{name}}` is a variable. */
  parameters?: Record<string, string>
  body?: object
  /** Variables that later requests use, as JavaScript expressions over `json`, the body of the response. */
  save?: Record<string, string>
}

const address = { addressLine1: '111 Collins St', city: 'Melbourne', postcode: '3000', country: 'Australia' }

/** Folders in an order in which all requests can be sent one after the other to the demo shop. */
const folders: Record<string, CollectionRequest[]> = {
  'Get started': [
    { operation: 'getMe' },
    { operation: 'getCapabilities' },
    { operation: 'listStores', parameters: { limit: '10' } },
  ],
  'Products and stock': [
    { operation: 'listProducts', parameters: { limit: '10' }, save: { productId: 'json.data[0].id' } },
    { operation: 'getProduct', parameters: { id: '{{productId}}' } },
    { operation: 'listInventory', parameters: { sku: '{{sku}}' } },
  ],
  Customers: [
    {
      operation: 'createCustomer',
      body: { firstname: 'Ann', surname: 'Lee', contact: { email: 'ann.lee+{{$guid}}@example.com' } },
      save: { customerId: 'json.data.id' },
    },
    { operation: 'getCustomer', parameters: { id: '{{customerId}}' } },
    { operation: 'updateCustomer', parameters: { id: '{{customerId}}' }, body: { emailSubscription: true } },
    { operation: 'searchCustomers', parameters: { limit: '10' } },
  ],
  'Check out with a gift voucher': [
    { operation: 'lookUpVoucher', body: { number: '{{voucherNumber}}', pin: '{{voucherPin}}' } },
    {
      operation: 'lockVoucher',
      parameters: { number: '{{voucherNumber}}' },
      body: { pin: '{{voucherPin}}', amount: '10.00', lockSeconds: 900 },
      save: { validationId: 'json.data.validationId' },
    },
    {
      operation: 'quoteOrder',
      body: { customerId: '{{customerId}}', lines: [{ sku: '{{sku}}', quantity: 1 }] },
      save: { quoteId: 'json.data.quoteId', remainder: '(Number(json.data.total) - 10).toFixed(2)' },
    },
    {
      operation: 'placeOrder',
      body: {
        customerId: '{{customerId}}',
        quoteId: '{{quoteId}}',
        billingAddress: address,
        deliveryAddress: address,
        lines: [{ sku: '{{sku}}', quantity: 1 }],
        payments: [
          {
            gateway: 'gift-card',
            amount: '10.00',
            voucher: { number: '{{voucherNumber}}', validationId: '{{validationId}}' },
          },
          { gateway: 'paypal', amount: '{{remainder}}', reference: 'PAYID-1' },
        ],
      },
      save: { orderId: 'json.data.id' },
    },
  ],
  Orders: [
    { operation: 'getOrder', parameters: { id: '{{orderId}}' } },
    { operation: 'listCustomerOrders', parameters: { id: '{{customerId}}' } },
    { operation: 'listReturnReasons' },
  ],
  'Keep in sync': [
    {
      operation: 'listChanges',
      parameters: { kinds: 'customer,order', limit: '10' },
      save: { cursor: 'json.meta.endCursor' },
    },
    { operation: 'listChanges', parameters: { kinds: 'customer,order', after_cursor: '{{cursor}}' } },
  ],
}

/** The variables of the environment. The demo shop has these SKUs and vouchers. */
const variables = {
  url: 'https://localhost:8443',
  username: '',
  password: '',
  service: 'demo',
  sku: 'LINDEN-CREW-OAT-M',
  voucherNumber: '9100001',
  voucherPin: '204816',
}

interface Operation {
  operationId: string
  summary: string
  description?: string
  parameters?: { $ref?: string; name?: string; in?: string }[]
}

/** Returns the collection and its environment (Postman 2.1, which Bruno imports too), as JSON. */
export function buildCollection(openApiDocument: string): { collection: string; environment: string } {
  const document = JSON.parse(openApiDocument)
  const operations = new Map(
    Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [operation.operationId, { path, method, operation }]),
    ),
  )
  const buildRequest = ({ operation: id, parameters = {}, body, save = {} }: CollectionRequest) => {
    const definition = operations.get(id)
    if (!definition) throw new Error(`The OpenAPI document has no operation ${id}, which the collection contains.`)
    const { path, method, operation } = definition
    const inPath = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
    const filledPath = path.replace(/\{(\w+)\}/g, (_, name) => {
      if (parameters[name] === undefined) throw new Error(`The collection must set ${name} of ${id}.`)
      return parameters[name]
    })
    const query = Object.entries(parameters).filter(([name]) => !inPath.has(name))
    const search = query.map(([key, value]) => `${key}=${value}`).join('&')
    const takesIdempotencyKey = operation.parameters?.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey'))
    const script = [
      "pm.test('succeeds', () => pm.expect(pm.response.code).to.be.below(300))",
      ...(Object.keys(save).length > 0 ? ['const json = pm.response.json()'] : []),
      ...Object.entries(save).map(([name, value]) => `pm.collectionVariables.set('${name}', ${value})`),
    ]
    return {
      name: operation.summary,
      event: [{ listen: 'test', script: { type: 'text/javascript', exec: script } }],
      request: {
        method: method.toUpperCase(),
        description: operation.description,
        header: [
          { key: 'X-Service-Name', value: '{{service}}' },
          ...(takesIdempotencyKey ? [{ key: 'Idempotency-Key', value: '{{$guid}}' }] : []),
        ],
        url: {
          raw: `{{url}}${filledPath}${search && `?${search}`}`,
          host: ['{{url}}'],
          path: filledPath.slice(1).split('/'),
          ...(query.length > 0 && { query: query.map(([key, value]) => ({ key, value })) }),
        },
        ...(body && {
          body: { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } },
        }),
      },
    }
  }
  const collection = {
    info: {
      name: 'Tillbridge',
      description:
        'Requests in an order in which they work one after the other. Choose the environment "Tillbridge demo", and set username and password.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: {
      type: 'basic',
      basic: [
        { key: 'username', value: '{{username}}', type: 'string' },
        { key: 'password', value: '{{password}}', type: 'string' },
      ],
    },
    item: Object.entries(folders).map(([name, requests]) => ({ name, item: requests.map(buildRequest) })),
  }
  const environment = {
    name: 'Tillbridge demo',
    values: Object.entries(variables).map(([key, value]) => ({
      key,
      value,
      type: key === 'password' ? 'secret' : 'default',
      enabled: true,
    })),
  }
  const format = (value: object) => `${JSON.stringify(value, null, 2)}\n`
  return { collection: format(collection), environment: format(environment) }
}

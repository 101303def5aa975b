/** Values of parameters and of fields of a body, by name. */
export type Values = Record<string, unknown>

/** Sends a request to an operation. Returns the body of the response, or the error. Returns undefined if the role or API key doesn't permit it. */
export type Call = (operationId: string, values?: Values) => Promise<unknown>

interface CommonTool {
  name: string
  description: string
  /** The operations that define the inputs, by input. */
  inputs: Readonly<Record<string, string>>
  required?: readonly string[]
}

/** Answers a question with one or several reads. */
export interface ReadTool extends CommonTool {
  /** The operation whose role and scope the tool needs. */
  operation: string
  read: (call: Call, input: Values) => Promise<Values>
}

/** Changes a record with one operation, after a dry run and a confirmation. */
export interface WriteTool extends CommonTool {
  operation: string
  /** The operation that returns the record before the change. The tool needs its role and scope too. */
  before?: string
}

export type Tool = ReadTool | WriteTool

/** Records of a list that a tool returns. An agent's context is small. */
const limit = 20

/** Returns the first record of a list, or the record itself. */
const firstRecord = (body: unknown) => {
  const { data } = (body ?? {}) as { data?: unknown }
  return (Array.isArray(data) ? data[0] : data) as Record<string, unknown> | undefined
}

/** Returns the back office's ID of an e-commerce SKU, from a list of products. */
function findSkuId(products: unknown, sku: unknown) {
  const { colours = [] } = (firstRecord(products) ?? {}) as { colours?: { sizes: Record<string, unknown>[] }[] }
  return colours.flatMap(({ sizes }) => sizes).find(({ ecommerceSku }) => ecommerceSku === sku)?.skuId
}

export const tools: readonly Tool[] = [
  {
    name: 'explain_stock',
    description: 'Why is this SKU (not) sellable online? Stock and its explanation per store, product and mapping.',
    operation: 'listInventory',
    inputs: { sku: 'listInventory', store_number: 'listInventory' },
    required: ['sku'],
    async read(call, { sku, store_number }) {
      const product = await call('listProducts', { sku, limit: 1 })
      const id = findSkuId(product, sku)
      return {
        stock: await call('listInventory', { sku, store_number, explain: true, limit }),
        product,
        ...(id !== undefined && { mapping: await call('getSkuMapping', { id }) }),
        syncs: await call('listSyncs'),
      }
    },
  },
  {
    name: 'find_product',
    description: 'A product with colours, sizes, prices and SKUs. Set one input.',
    operation: 'listProducts',
    inputs: { sku: 'listProducts', code: 'listProducts', id: 'getProduct' },
    read: async (call, { id, sku, code }) => ({
      product: id === undefined ? await call('listProducts', { sku, code, limit }) : await call('getProduct', { id }),
    }),
  },
  {
    name: 'find_customer',
    description: 'A customer with rewards and latest orders. Set one input.',
    operation: 'findCustomers',
    inputs: { email: 'findCustomers', name: 'searchCustomers', id: 'getCustomer' },
    async read(call, { id, email, name }) {
      const response =
        id !== undefined
          ? await call('getCustomer', { id })
          : email !== undefined
            ? await call('findCustomers', { email })
            : await call('searchCustomers', { name, limit })
      const customer = firstRecord(response)?.id
      if (customer === undefined || name !== undefined) return { customer: response }
      return {
        customer: response,
        rewards: await call('getCustomerRewards', { id: customer }),
        orders: await call('listCustomerOrders', { id: customer, limit: 5 }),
      }
    },
  },
  {
    name: 'trace_order',
    description: 'What happened to this order? Order, shipments, returns, requests and audit. Set one input.',
    operation: 'getOrder',
    inputs: { order_number: 'findOrders', id: 'getOrder' },
    async read(call, { id: knownId, order_number }) {
      const order =
        knownId === undefined ? await call('findOrders', { order_number }) : await call('getOrder', { id: knownId })
      const id = firstRecord(order)?.id
      if (id === undefined) return { order }
      const record = `/orders/${id}`
      return {
        order,
        shipments: await call('listOrderShipments', { id }),
        returns: await call('listOrderReturns', { id }),
        requests: await call('listRequests', { record, limit }),
        audit: await call('listAudit', { record, limit }),
      }
    },
  },
  {
    name: 'check_service',
    description: 'Is the service healthy? Health, open alerts, syncs and capabilities.',
    operation: 'getHealth',
    inputs: {},
    read: async call => ({
      health: await call('getHealth'),
      alerts: await call('listAlerts', { limit }),
      syncs: await call('listSyncs'),
      capabilities: await call('getCapabilities'),
    }),
  },
  {
    name: 'list_changes',
    description: 'What changed recently? Changes of records, oldest first.',
    operation: 'listChanges',
    inputs: { kinds: 'listChanges', after_cursor: 'listChanges' },
    read: async (call, input) => ({ changes: await call('listChanges', { ...input, limit }) }),
  },
  {
    name: 'trace_voucher',
    description: 'What happened to this gift voucher? Its ledger and audit.',
    operation: 'getVoucherLedger',
    inputs: { number: 'getVoucherLedger' },
    required: ['number'],
    read: async (call, { number }) => ({
      ledger: await call('getVoucherLedger', { number }),
      audit: await call('listAudit', { record: `/vouchers/${number}`, limit }),
    }),
  },
  {
    name: 'check_sync',
    description: 'Is data from the back office current? All syncs, or one with its runs.',
    operation: 'listSyncs',
    inputs: { sync: 'listSyncRuns' },
    read: async (call, { sync }) => ({
      syncs: await call('listSyncs'),
      ...(sync !== undefined && { runs: await call('listSyncRuns', { sync, limit: 5 }) }),
    }),
  },
  {
    name: 'check_import',
    description: 'Why were lines of an import rejected?',
    operation: 'getImport',
    inputs: { id: 'getImport' },
    required: ['id'],
    read: async (call, { id }) => ({
      import: await call('getImport', { id }),
      rejected: await call('listRejectedLines', { id, limit }),
    }),
  },
  {
    name: 'list_alerts',
    description: 'Open problems with their remedies.',
    operation: 'listAlerts',
    inputs: {},
    read: async call => ({ alerts: await call('listAlerts', { limit }) }),
  },
  {
    name: 'find_broken_mappings',
    description: 'Which mappings to the e-commerce platform are broken? Issues of stores, SKUs and customers.',
    operation: 'getMappingStatus',
    inputs: {},
    read: async call => ({
      status: await call('getMappingStatus'),
      stores: await call('listStoreMappingIssues', { limit }),
      skus: await call('listSkuMappingIssues', { limit }),
      customers: await call('listCustomerMappingIssues', { limit }),
    }),
  },
  {
    name: 'search_requests',
    description: 'Which API requests failed, and why? Newest first.',
    operation: 'listRequests',
    inputs: {
      request_id: 'listRequests',
      record: 'listRequests',
      account: 'listRequests',
      failed: 'listRequests',
      code: 'listRequests',
    },
    read: async (call, input) => ({ requests: await call('listRequests', { ...input, limit }) }),
  },
  {
    name: 'search_audit',
    description: 'Who changed what? Newest first.',
    operation: 'listAudit',
    inputs: { record: 'listAudit', account: 'listAudit', updated_after: 'listAudit' },
    read: async (call, input) => ({ audit: await call('listAudit', { ...input, asc: false, limit }) }),
  },
  {
    name: 'check_webhooks',
    description: 'Do webhooks arrive? All endpoints, or one with its attempts.',
    operation: 'listWebhooks',
    inputs: { id: 'getWebhook' },
    read: async (call, { id }) =>
      id === undefined
        ? { webhooks: await call('listWebhooks', { limit }) }
        : { webhook: await call('getWebhook', { id }), attempts: await call('listWebhookAttempts', { id, limit }) },
  },
  {
    name: 'start_sync',
    description: 'Start a sync now.',
    operation: 'startSync',
    inputs: { sync: 'startSync', full: 'startSync' },
    required: ['sync'],
  },
  {
    name: 'resolve_alert',
    description: 'Resolve an alert whose cause is fixed.',
    operation: 'resolveAlert',
    inputs: { id: 'resolveAlert' },
    required: ['id'],
  },
  {
    name: 'map_sku',
    description: 'Set the e-commerce SKU of a SKU.',
    operation: 'mapSku',
    before: 'getSkuMapping',
    inputs: { id: 'mapSku', ecommerceSku: 'mapSku' },
    required: ['id', 'ecommerceSku'],
  },
  {
    name: 'resume_webhook',
    description: 'Resume a paused webhook.',
    operation: 'resumeWebhook',
    before: 'getWebhook',
    inputs: { id: 'resumeWebhook' },
    required: ['id'],
  },
]

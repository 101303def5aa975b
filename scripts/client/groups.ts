/** What the operations are called in the client: those of a group, by their names there. A group is a file of `client/src/api`, its shapes one of `client/src/shapes`. */
export const groups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // The first: its records are those of all others.
  changes: { list: 'listChanges' },
  stores: { list: 'listStores', get: 'getStore' },
  staff: { list: 'listStaff', get: 'getStaffMember' },
  inventory: { list: 'listInventory', get: 'getStockLevel' },
  products: { list: 'listProducts', get: 'getProduct' },
  privacy: { export: 'exportCustomer', erase: 'eraseCustomer' },
  customers: {
    search: 'searchCustomers',
    find: 'findCustomers',
    get: 'getCustomer',
    create: 'createCustomer',
    update: 'updateCustomer',
    transactions: 'listCustomerTransactions',
    orders: 'listCustomerOrders',
    rewards: 'getCustomerRewards',
  },
  transactions: { search: 'searchTransactions', get: 'getTransaction' },
  orders: {
    place: 'placeOrder',
    get: 'getOrder',
    find: 'findOrders',
    giveBack: 'createReturn',
    returns: 'listOrderReturns',
    returnable: 'listReturnableGoods',
  },
  returns: { get: 'getReturn', reasons: 'listReturnReasons' },
  rewards: { programs: 'listRewardPrograms', account: 'getRewardAccount' },
  vouchers: {
    get: 'getVoucher',
    lookUp: 'lookUpVoucher',
    validate: 'validateVoucher',
    lock: 'lockVoucher',
    issue: 'issueVoucher',
  },
  paymentGateways: { list: 'listPaymentGateways' },
  service: { capabilities: 'getCapabilities', settings: 'getSettings', updateSettings: 'updateSettings' },
  accounts: {
    list: 'listAccounts',
    get: 'getAccount',
    create: 'createAccount',
    update: 'updateAccount',
    rotatePassword: 'rotatePassword',
    revoke: 'revokeAccount',
  },
  mappings: {
    stores: 'listStoreMappings',
    store: 'getStoreMapping',
    mapStore: 'mapStore',
    skus: 'listSkuMappings',
    sku: 'getSkuMapping',
    mapSku: 'mapSku',
    customers: 'listCustomerMappings',
    customer: 'getCustomerMapping',
    mapCustomer: 'mapCustomer',
  },
  audit: { list: 'listAudit' },
}

/** What the client has in another way, or twice. */
export const leftOut: ReadonlySet<string> = new Set(['lockVoucherByPost', 'streamChanges'])

/** The settings of the simulated shop and app. */
export interface ShopifySettings {
  shopName: string
  currency: string
  timeZone: string
  taxesIncluded: boolean
  plan: string
  /** The supported versions, oldest first. The oldest one serves requests for any other version. */
  versions: string[]
  clientId: string
  clientSecret: string
  /** The secret that signs events. If empty, `clientSecret`. After a rotation, the platform signs with the old secret for up to an hour. */
  signingSecret: string
  /** The certificate to trust, in PEM, if the event receiver has a self-signed one. */
  trustedCertificate: string
  tokenSeconds: number
  scopes: string[]
  /** Level 2 includes names, addresses, emails and phone numbers. */
  protectedDataLevel: 0 | 1 | 2
  bucketPoints: number
  restorePerSecond: number
  /** Seconds from the start of a bulk operation to its end. */
  bulkSeconds: number
}

export const defaultShopifySettings: ShopifySettings = {
  shopName: 'luma-au',
  currency: 'AUD',
  timeZone: 'Australia/Melbourne',
  taxesIncluded: true,
  plan: 'Basic',
  versions: ['2026-04', '2026-07', '2026-10'],
  clientId: 'simulated-app',
  clientSecret: 'simulated-secret',
  signingSecret: '',
  trustedCertificate: '',
  tokenSeconds: 86_399,
  scopes: [
    'read_customer_merge',
    'read_customers',
    'read_inventory',
    'read_locations',
    'read_merchant_managed_fulfillment_orders',
    'read_orders',
    'read_products',
    'read_reports',
    'write_inventory',
  ],
  protectedDataLevel: 2,
  bucketPoints: 2_000,
  restorePerSecond: 100,
  bulkSeconds: 0,
}

export function changeShopifySettings(settings: ShopifySettings, changes: Partial<ShopifySettings>): void {
  for (const [name, value] of Object.entries(changes)) {
    if (!Object.hasOwn(settings, name)) throw new TypeError(`Setting ${name} not found`)
    const present = settings[name as keyof ShopifySettings]
    if (typeof value !== typeof present || Array.isArray(value) !== Array.isArray(present))
      throw new TypeError(`${name} must be like ${JSON.stringify(present)}`)
  }
  Object.assign(settings, changes)
}

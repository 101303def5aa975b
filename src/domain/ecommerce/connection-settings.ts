/** The platforms that a service can be connected to. */
export const platformNames = ['shopify', 'medusa'] as const
export type PlatformName = (typeof platformNames)[number]

/** A service has one connection at present. */
export const mainConnection = 'main'
/** The connection of items that come from files. */
export const fileConnection = 'files'

const autoMappingModes = ['off', 'exact'] as const
const eventModes = ['off', 'on'] as const
const stockPushModes = ['off', 'dryRun', 'on'] as const
const maxNettingDelayMinutes = 1_440

/** The syncs of a platform. Each writes the items that the import type of the same name writes. */
export const platformSyncs = ['ecommerce-locations', 'ecommerce-variants', 'ecommerce-customers'] as const
export type PlatformSyncName = (typeof platformSyncs)[number]

/** Seconds between two runs of each sync. */
export const defaultIntervals = {
  'ecommerce-locations': 3_600,
  'ecommerce-variants': 300,
  'ecommerce-customers': 900,
} as const satisfies Record<PlatformSyncName, number>

export const isPlatformSync = (name: string): name is PlatformSyncName =>
  (platformSyncs as readonly string[]).includes(name)

/** The connection of a service to its e-commerce platform. */
export interface ConnectionSettings {
  driver: PlatformName
  /** The origin of the shop, such as `https://luma-au.myshopify.com`. */
  url: string
  /** Null: the platform identifies the app by its secret. */
  clientId: string | null
  /** Null: the API of the platform has no versions. */
  apiVersion: string | null
  autoMapping: (typeof autoMappingModes)[number]
  stockPush: (typeof stockPushModes)[number]
  /** `on`: the platform sends events, so that changes are read within seconds. */
  events: (typeof eventModes)[number]
  /** Minutes after which a stock sync contains the units of an order, if the back office is another system. */
  nettingDelayMinutes: number
  /** Seconds between two runs of a sync, if not the default. */
  intervals: Readonly<Partial<Record<PlatformSyncName, number>>>
}

interface Field {
  description: string
  findProblem(value: string): string | undefined
}

const oneOf = (values: readonly string[]) => (value: string) =>
  values.includes(value) ? undefined : `must be one of ${values.join(', ')}`

const isLoopback = (host: string) => ['127.0.0.1', 'localhost', '[::1]'].includes(host)

/** Returns the origin of a shop that is written as a host name or a URL. Returns undefined if it is invalid. */
export function toShopOrigin(value: string): string | undefined {
  const text = /^[a-z]+:\/\//i.test(value) ? value : `https://${value}`
  if (!URL.canParse(text) || value.length > 250) return
  const { protocol, hostname, username, password, pathname, search, hash, origin } = new URL(text)
  if (username + password + search + hash !== '' || pathname !== '/') return
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)) ? origin : undefined
}

/** The settings that `tillbridge ecommerce set` accepts, apart from intervals. */
export const connectionFields = {
  driver: { description: 'The platform. Default: shopify.', findProblem: oneOf(platformNames) },
  url: {
    description: "The shop's address, such as luma-au.myshopify.com; of a Medusa, its backend.",
    findProblem: value =>
      toShopOrigin(value) ? undefined : 'must be a host name such as luma-au.myshopify.com, without a path',
  },
  clientId: {
    description: 'The client ID of your app on Shopify.',
    findProblem: value => (/^[\w-]{1,100}$/.test(value) ? undefined : 'must have 1 to 100 characters without spaces'),
  },
  apiVersion: {
    description: "The version of Shopify's API. Default: 2026-07.",
    findProblem: oneOf(['2026-04', '2026-07', '2026-10']),
  },
  autoMapping: {
    description: 'exact: map a SKU automatically if its barcode is equal to that of one variant. Default: off.',
    findProblem: oneOf(autoMappingModes),
  },
  stockPush: {
    description: 'dryRun: compare stock, set nothing. on: set stock on the platform; requires a dry run. Default: off.',
    findProblem: oneOf(stockPushModes),
  },
  events: {
    description: 'on: Shopify reports changes at once; requires PUBLIC_URL. Default: off.',
    findProblem: oneOf(eventModes),
  },
  nettingDelayMinutes: {
    description: 'Minutes until the stock of a separate back office contains an order, from 0 to 1440. Default: 10.',
    findProblem: value =>
      /^\d{1,4}$/.test(value) && Number(value) <= maxNettingDelayMinutes
        ? undefined
        : 'must be an integer from 0 to 1440',
  },
} as const satisfies Record<string, Field>
export type ConnectionField = keyof typeof connectionFields

/** The settings that can't be changed, by platform: Medusa identifies a client by its secret, and sends no events. */
export const fixedFields = {
  shopify: {},
  medusa: { clientId: null, apiVersion: null, events: 'off' },
} as const satisfies Record<PlatformName, Partial<ConnectionSettings>>

export const defaultConnection = {
  driver: 'shopify',
  apiVersion: '2026-07',
  autoMapping: 'off',
  stockPush: 'off',
  events: 'off',
  nettingDelayMinutes: 10,
  intervals: {},
} as const satisfies Partial<ConnectionSettings>

import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { Capabilities, Capability, CapabilityName } from '../port/back-office.ts'
import {
  buildCapability,
  buildCapabilitySince,
  buildCommonCapabilities,
  buildReturnsCapability,
  type ServiceConfiguration,
} from '../port/capabilities.ts'
import { featureReleases, type ReleaseReader } from './client/release.ts'
import { noOrderTaxesReason } from './mapping/order-to-xml.ts'
import { noErasureReason } from './operations/customers.ts'
import { noExchangesReason, noFulfilmentReason } from './operations/fulfilment.ts'

const alwaysAvailable: readonly CapabilityName[] = [
  'stores',
  'inventory',
  'liveStock',
  'products',
  'customers',
  'customerWrites',
  'customerTransactions',
  'rewards',
  'rewardRedemptions',
  'orders',
  'shipments',
  'vouchers',
  'orderQuotes',
]

/** Capabilities that need the back office's export files, with the reason if there are none. */
export const exportCapabilities: ReadonlyMap<CapabilityName, string> = new Map([
  ['staff', "The Retail API doesn't return staff. Use the back office's export files or an import."],
  [
    'transactions',
    'The Retail API returns the history of one customer at a time. Without export files, `/orders/transactions/search` lists only sales of known customers, after their first refresh.',
  ],
  [
    'signUpStore',
    "The Retail API doesn't return the store that a customer joined in. Only the export files contain `joinedStoreId` and `joinedStoreCode`.",
  ],
])

/** Capabilities that no release has, with the reason and the alternative. */
const neverAvailable: readonly Capability[] = [
  buildCapability('customerErasure', noErasureReason),
  buildCapability('orderTaxes', noOrderTaxesReason),
  buildCapability('fulfilment', noFulfilmentReason),
  buildCapability('exchanges', noExchangesReason),
  buildCapability(
    'paymentGatewayList',
    "The Retail API doesn't list payment gateways. `GET /payment-gateways` returns those of the setting `gateways`.",
  ),
  buildCapability(
    'voucherNumberAtSale',
    'The back office creates number and PIN after the sale and emails them itself. `POST /vouchers` returns 202.',
  ),
]

/** The settings of an installation that affect its capabilities. */
interface InstallationOptions {
  /** True if its export files are imported. */
  hasExports: boolean
  /** The gateways with a merchant in the settings. */
  merchants: readonly string[]
}

/** Returns the capabilities of a service, with the reasons for missing ones. An unreachable back office counts as an unknown release. */
export async function loadCapabilities(
  release: ReleaseReader,
  { settings }: Service,
  { hasExports, merchants }: InstallationOptions,
  configured?: ServiceConfiguration,
): Promise<Capabilities> {
  const installed = await release.read()
  return {
    driver: 'apparel21',
    release: installed ?? 'unknown',
    capabilities: [
      ...alwaysAvailable.map(name => buildCapability(name)),
      ...[...exportCapabilities].map(([name, reason]) => buildCapability(name, hasExports ? undefined : reason)),
      ...neverAvailable,
      buildCapabilitySince(
        'voucherDeliveryDate',
        installed,
        featureReleases.voucherDeliveryDate,
        'A `deliveryDate` other than today',
      ),
      buildCapabilitySince('priceChanges', installed, featureReleases.futurePrices, '`priceChanges` of products'),
      buildCapabilitySince('coupons', installed, featureReleases.coupons, 'A coupon'),
      buildCapabilitySince('freightOptions', installed, featureReleases.freightOptions, 'GET /freight-options'),
      buildCapabilitySince('returnStatus', installed, featureReleases.returns, 'The status of a return'),
      settings.returnReasons.length
        ? buildCapabilitySince('returns', installed, featureReleases.returns, 'A return')
        : buildReturnsCapability(settings),
      buildCapability('gatewayMerchants', findMissingMerchants(merchants, configured)),
      ...buildCommonCapabilities(settings, installed, configured),
    ],
  }
}

/** Returns a reason if a gateway has no merchant. Its payments are sent without one, but PayPal, Afterpay and others need it. */
function findMissingMerchants(merchants: readonly string[], configured?: ServiceConfiguration): string | undefined {
  const missing = configured?.gateways.filter(name => !merchants.includes(name)) ?? []
  return missing.length
    ? `No merchant is set for ${missing.map(name => `\`${name}\``).join(', ')}. The back office rejects some gateways without one. Run \`tillbridge back-office set\`.`
    : undefined
}

import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { VoucherConfiguration } from '../../domain/vouchers/issue.ts'
import type { Capabilities, Capability, CapabilityName } from '../port/back-office.ts'
import { capability, common, needing, returns } from '../port/capabilities.ts'
import { featureReleases, type ReleaseReader } from './client/release.ts'
import { noErasureReason } from './operations/customers.ts'

const always: readonly CapabilityName[] = [
  'stores',
  'inventory',
  'products',
  'customers',
  'customerWrites',
  'customerTransactions',
  'rewards',
  'orders',
  'vouchers',
]

/** What only the back office's export files tell, and what there is without them. */
export const exportCapabilities: ReadonlyMap<CapabilityName, string> = new Map([
  ['staff', 'The back office has no staff to read: `GET /staff` has what its export files, or an import, bring.'],
  [
    'transactions',
    'The back office tells the history of one customer at a time: without its export files `/orders/transactions/search` has the sales of known customers only, each once the customer was refreshed.',
  ],
  [
    'signUpStore',
    'The back office does not say which store a customer joined in: `joinedStoreId` and `joinedStoreCode` come with its export files only.',
  ],
])

/** What this kind of back office cannot do whatever its release, and where it comes from instead. */
const never: readonly Capability[] = [
  capability('customerErasure', noErasureReason),
  capability(
    'paymentGatewayList',
    'The back office does not list its gateways: `GET /payment-gateways` has the names of the setting `gateways`.',
  ),
  capability(
    'returnStatus',
    'The back office does not tell what became of a return: its status stays `requested`, and what it brings back stays counted.',
  ),
  capability(
    'voucherNumberAtSale',
    'The back office makes number and PIN of a voucher after its sale, and e-mails them itself: `POST /vouchers` answers 202.',
  ),
]

/** What is set of the back office that capabilities depend on. */
interface InstallationOptions {
  /** It leaves its export files for us. */
  hasExports: boolean
  /** The gateways whose merchants it was told. */
  merchants: readonly string[]
}

/** What works for a service, and what does not and why. A back office that cannot be reached counts as one of no known release. */
export async function loadCapabilities(
  release: ReleaseReader,
  { settings }: Service,
  { hasExports, merchants }: InstallationOptions,
  configured?: VoucherConfiguration,
): Promise<Capabilities> {
  const known = await release.read()
  return {
    driver: 'apparel21',
    release: known ?? 'unknown',
    capabilities: [
      ...always.map(name => capability(name)),
      ...[...exportCapabilities].map(([name, reason]) => capability(name, hasExports ? undefined : reason)),
      ...never,
      needing('voucherDeliveryDate', known, featureReleases.voucherDeliveryDate, 'A `deliveryDate` other than today'),
      settings.returnReasons.length
        ? needing('returns', known, featureReleases.returns, 'A return')
        : returns(settings),
      capability('gatewayMerchants', findMissingMerchants(merchants, configured)),
      ...common(settings, known, configured),
    ],
  }
}

/** Payments go out without a merchant then; the back office has to have one for PayPal, Afterpay and some others. */
function findMissingMerchants(merchants: readonly string[], configured?: VoucherConfiguration): string | undefined {
  const without = configured?.gateways.filter(name => !merchants.includes(name)) ?? []
  return without.length
    ? `The back office is not told the merchant of ${without.map(name => `\`${name}\``).join(', ')}, and some kinds of gateway are refused without: \`tillbridge back-office set\`.`
    : undefined
}

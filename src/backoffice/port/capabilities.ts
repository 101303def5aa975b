import type { Settings } from '../../domain/tenancy/service-settings.ts'
import { isAtLeast } from '../../domain/values/release.ts'
import { explainNoGateways, explainNoVouchers, type VoucherConfiguration } from '../../domain/vouchers/issue.ts'
import type { Capability, CapabilityName } from './back-office.ts'

/** A capability and, where it is lacking, why. */
export const capability = (name: CapabilityName, reason?: string): Capability =>
  reason === undefined ? { name, available: true } : { name, available: false, reason }

/** One that comes with a release. `release`: undefined where it cannot be found out. */
export function capabilitySince(
  name: CapabilityName,
  release: string | undefined,
  minimum: string,
  what: string,
): Capability {
  if (isAtLeast(release ?? '', minimum)) return capability(name)
  const found = release === undefined ? 'which release this one is cannot be found out' : `this one is ${release}`
  return capability(name, `${what} needs back-office version ${minimum} or later; ${found}.`)
}

/** Since when a back office can say which customers have changed (contract 4). */
const customersByChangeSince = '2022.1'

/** Returns, as far as the settings go; a back office may ask for more. */
export const returns = ({ returnReasons }: Settings) =>
  capability(
    'returns',
    returnReasons.length ? undefined : 'A return names its reason, and the setting `returnReasons` has none.',
  )

const subscriptionMappings = ({ subscriptionMapping }: Settings) =>
  (['email', 'sms'] as const).map(channel =>
    capability(
      `${channel}SubscriptionMapping`,
      subscriptionMapping[channel]
        ? undefined
        : `\`${channel}Subscription\` is kept by the service, and changes no customer reference: the setting \`subscriptionMapping.${channel}\` says which.`,
    ),
  )

/** What depends on the same things with every back office. */
export const common = (settings: Settings, release: string | undefined, known?: VoucherConfiguration): Capability[] => [
  capabilitySince('customersUpdatedAfter', release, customersByChangeSince, 'GET /customers?updated_after='),
  capability('paymentGateways', explainNoGateways(known)),
  capability('vouchersIssue', explainNoVouchers(settings, known)),
  ...subscriptionMappings(settings),
]

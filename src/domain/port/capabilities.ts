import type { Settings } from '../../settings.ts'
import { isAtLeast } from '../release.ts'
import { type Configured, whyNoGateways, whyNoVouchers } from '../vouchers/issue.ts'
import type { Capability, CapabilityName } from './backoffice.ts'

/** A capability and, where it is lacking, why. */
export const capability = (name: CapabilityName, reason?: string): Capability =>
  reason === undefined ? { name, available: true } : { name, available: false, reason }

/** One that comes with a release. `release`: undefined where it cannot be found out. */
export function needing(name: CapabilityName, release: string | undefined, minimum: string, what: string): Capability {
  if (isAtLeast(release ?? '', minimum)) return capability(name)
  const found = release === undefined ? 'which release this one is cannot be found out' : `this one is ${release}`
  return capability(name, `${what} needs release ${minimum} or later; ${found}.`)
}

// Those that hang on the same with every back office.

/** Since when a back office can say which customers have changed (contract 4). */
const customersByChangeSince = '2022.1'

export const customersUpdatedAfter = (release: string | undefined) =>
  needing('customersUpdatedAfter', release, customersByChangeSince, 'GET /customers?updated_after=')

export const paymentGateways = (known?: Configured) => capability('paymentGateways', whyNoGateways(known))

export const vouchersIssue = (settings: Settings, known?: Configured) =>
  capability('vouchersIssue', whyNoVouchers(settings, known))

/** Returns, as far as the settings go. */
export const returns = ({ returnReasons }: Settings) =>
  capability(
    'returns',
    returnReasons.length ? undefined : 'A return names its reason, and the setting `returnReasons` has none.',
  )

export const subscriptionMappings = ({ subscriptionMapping }: Settings) =>
  (['email', 'sms'] as const).map(channel =>
    capability(
      `${channel}SubscriptionMapping`,
      subscriptionMapping[channel]
        ? undefined
        : `\`${channel}Subscription\` is kept by the service, and changes no customer reference: the setting \`subscriptionMapping.${channel}\` says which.`,
    ),
  )

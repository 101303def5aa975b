import { type Capabilities, type Capability, customersByChangeSince } from '../../domain/backoffice.ts'
import { isAtLeast } from '../../domain/release.ts'
import { unconfigured } from '../../domain/voucher-rules.ts'
import type { Service, Settings } from '../../settings.ts'

const always = [
  ...['stores', 'staff', 'inventory', 'products', 'customers', 'customerWrites', 'transactions', 'rewards'],
  ...['paymentGateways', 'orders'],
]

/** What works for a service, and what does not and why: with the embedded back office that hangs on its settings alone. */
export function capabilitiesOf({ settings }: Service): Capabilities {
  return {
    driver: 'embedded',
    release: settings.release,
    capabilities: [...always.map(name => ({ name, available: true })), ...conditional.map(judge => judge(settings))],
  }
}

/** A capability and, where it is lacking, why. */
const capability = (name: string, reason: string | undefined): Capability =>
  reason === undefined ? { name, available: true } : { name, available: false, reason }

const conditional: readonly ((settings: Settings) => Capability)[] = [
  ({ release }) =>
    capability(
      'customersUpdatedAfter',
      isAtLeast(release, customersByChangeSince)
        ? undefined
        : `GET /customers?updated_after= needs release ${customersByChangeSince} or later; this one is ${release}.`,
    ),
  ({ returnReasons }) =>
    capability(
      'returns',
      returnReasons.length ? undefined : 'A return names its reason, and the setting `returnReasons` has none.',
    ),
  settings => {
    const missing = unconfigured(settings).map(({ detail }) => detail)
    return capability('vouchersIssue', missing.length ? missing.join(' ') : undefined)
  },
  ({ mailSender }) =>
    capability(
      'mailSender',
      mailSender === null
        ? 'E-mails come from an address at localhost, which mail servers refuse: the setting `mailSender` gives another.'
        : undefined,
    ),
  ({ subscriptionMapping }) => subscription('email', subscriptionMapping.email !== undefined),
  ({ subscriptionMapping }) => subscription('sms', subscriptionMapping.sms !== undefined),
]

const subscription = (channel: 'email' | 'sms', mapped: boolean) =>
  capability(
    `${channel}SubscriptionMapping`,
    mapped
      ? undefined
      : `\`${channel}Subscription\` is kept by the service, and changes no customer reference: the setting \`subscriptionMapping.${channel}\` says which.`,
  )

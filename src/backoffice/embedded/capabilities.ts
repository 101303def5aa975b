import type { Db } from '../../db.ts'
import { type Capabilities, type Capability, customersByChangeSince } from '../../domain/port/backoffice.ts'
import { isAtLeast } from '../../domain/release.ts'
import { type Configured, whyNoGateways, whyNoVouchers } from '../../domain/vouchers/issue.ts'
import type { Service, Settings } from '../../settings.ts'
import { gatewayNames } from '../../store/running/gateways.ts'
import { giftCardSkuId } from '../vouchers/gift-card.ts'

const always = [
  ...['stores', 'staff', 'inventory', 'products', 'customers', 'customerWrites', 'transactions', 'rewards'],
  ...['customerErasure', 'returnStatus'],
  'orders',
]

/** What works for a service, and what does not and why: with the embedded back office that depends on its settings alone. */
export function capabilitiesOf({ settings }: Service, known?: Configured): Capabilities {
  return {
    driver: 'embedded',
    release: settings.release,
    capabilities: [
      ...always.map(name => ({ name, available: true })),
      ...conditional.map(judge => judge(settings, known)),
    ],
  }
}

/** What the tables of a service have of what its settings name. */
export const configured = async (db: Db, service: Service): Promise<Configured> => ({
  gateways: await gatewayNames(db, service),
  hasGiftCard: (await giftCardSkuId(db, service)) !== undefined,
})

/** A capability and, where it is lacking, why. */
const capability = (name: string, reason: string | undefined): Capability =>
  reason === undefined ? { name, available: true } : { name, available: false, reason }

const conditional: readonly ((settings: Settings, known?: Configured) => Capability)[] = [
  (_, known) => capability('paymentGateways', whyNoGateways(known)?.join(' ')),
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
  (settings, known) => capability('vouchersIssue', whyNoVouchers(settings, known)),
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

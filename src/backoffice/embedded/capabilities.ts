import type { Db } from '../../database/db.ts'
import { embeddedName } from '../../domain/tenancy/back-office-settings.ts'
import type { Service, Settings } from '../../domain/tenancy/service-settings.ts'
import type { VoucherConfiguration } from '../../domain/vouchers/issue.ts'
import { gatewayNames } from '../../store/tenancy/gateways.ts'
import type { Capabilities, CapabilityName } from '../port/back-office.ts'
import { capability, common, returns } from '../port/capabilities.ts'
import { giftCardSkuId } from '../vouchers/gift-card.ts'

const always: readonly CapabilityName[] = [
  'stores',
  'staff',
  'inventory',
  'products',
  'customers',
  'customerWrites',
  'transactions',
  'rewards',
  'customerErasure',
  'returnStatus',
  'orders',
]

/** What works for a service, and what does not and why: with the embedded back office that depends on its settings alone. */
export function capabilitiesOf({ settings }: Service, known?: VoucherConfiguration): Capabilities {
  return {
    driver: embeddedName,
    release: settings.backOfficeVersion,
    capabilities: [
      ...always.map(name => capability(name)),
      returns(settings),
      emailSender(settings),
      ...common(settings, settings.backOfficeVersion, known),
    ],
  }
}

/** What the tables of a service have of what its settings name. */
export const configured = async (db: Db, service: Service): Promise<VoucherConfiguration> => ({
  gateways: await gatewayNames(db, service),
  hasGiftCard: (await giftCardSkuId(db, service)) !== undefined,
})

const emailSender = ({ emailSender }: Settings) =>
  capability(
    'emailSender',
    emailSender === null
      ? 'E-mails come from an address at localhost, which mail servers refuse: the setting `emailSender` gives another.'
      : undefined,
  )

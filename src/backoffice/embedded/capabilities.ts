import type { Db } from '../../database/db.ts'
import { embeddedName } from '../../domain/tenancy/back-office-settings.ts'
import type { Service, Settings } from '../../domain/tenancy/service-settings.ts'
import { listGatewayNames } from '../../store/tenancy/gateways.ts'
import type { Capabilities, CapabilityName } from '../port/back-office.ts'
import {
  buildCapability,
  buildCommonCapabilities,
  buildReturnsCapability,
  findMissingReferences,
  type ServiceConfiguration,
} from '../port/capabilities.ts'
import { findGiftCardSkuId } from '../vouchers/gift-card.ts'
import { noCouponsReason } from './coupons.ts'
import { noFreightOptionsReason } from './quotes.ts'
import { noLiveStockReason } from './stock.ts'

const always: readonly CapabilityName[] = [
  'stores',
  'staff',
  'inventory',
  'products',
  'customers',
  'customerWrites',
  'transactions',
  'rewards',
  'rewardRedemptions',
  'customerErasure',
  'returnStatus',
  'orders',
  'shipments',
  'fulfilment',
  'exchanges',
  'orderTaxes',
  'orderQuotes',
]

/** Returns the capabilities of a service, with the reasons for missing ones. With the embedded back office they depend on settings only. */
export function buildCapabilities({ settings }: Service, configuration?: ServiceConfiguration): Capabilities {
  return {
    driver: embeddedName,
    release: settings.backOfficeVersion,
    capabilities: [
      ...always.map(name => buildCapability(name)),
      buildCapability('freightOptions', noFreightOptionsReason),
      buildCapability('coupons', noCouponsReason),
      buildCapability('liveStock', noLiveStockReason),
      buildCapability('priceChanges', 'Imports have current prices only. Import a new price on the day it begins.'),
      buildReturnsCapability(settings),
      buildEmailSenderCapability(settings),
      ...buildCommonCapabilities(settings, settings.backOfficeVersion, configuration),
    ],
  }
}

/** Checks which gateways, gift card and references of the settings exist in our tables. */
export const loadConfiguration = async (db: Db, service: Service): Promise<ServiceConfiguration> => ({
  gateways: await listGatewayNames(db, service),
  hasGiftCard: (await findGiftCardSkuId(db, service)) !== undefined,
  missingReferences: await findMissingReferences(db, service),
})

const buildEmailSenderCapability = ({ emailSender }: Settings) =>
  buildCapability(
    'emailSender',
    emailSender === null ? 'Mail servers reject emails from an address at localhost. Set `emailSender`.' : undefined,
  )

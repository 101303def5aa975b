import type { Db } from '../../database/db.ts'
import type { Service, Settings } from '../../domain/tenancy/service-settings.ts'
import { checkMappedReferences } from '../../domain/tenancy/settings-rules.ts'
import { isAtLeast } from '../../domain/values/release.ts'
import { explainNoGateways, explainNoVouchers, type VoucherConfiguration } from '../../domain/vouchers/issue.ts'
import type { FieldError } from '../../errors/api-error.ts'
import { findMappedReferences } from '../../store/catalog/references.ts'
import type { Capability, CapabilityName } from './back-office.ts'

/** Builds a capability. It is missing if there is a reason. */
export const buildCapability = (name: CapabilityName, reason?: string): Capability =>
  reason === undefined ? { name, available: true } : { name, available: false, reason }

/** Builds a capability that needs a release. `release` is undefined if it can't be determined. */
export function buildCapabilitySince(
  name: CapabilityName,
  release: string | undefined,
  minimum: string,
  feature: string,
): Capability {
  if (isAtLeast(release ?? '', minimum)) return buildCapability(name)
  const installed =
    release === undefined ? "The installed version can't be determined" : `Version ${release} is installed`
  return buildCapability(name, `${feature} needs back-office version ${minimum} or later. ${installed}.`)
}

/** The first release that lists changed customers. */
const customersUpdatedAfterRelease = '2022.1'

/** Builds the capability of returns from the settings. A driver can require more. */
export const buildReturnsCapability = ({ returnReasons }: Settings) =>
  buildCapability('returns', returnReasons.length ? undefined : 'A return must have a reason. Set `returnReasons`.')

/** The stored data that the capabilities of a service depend on. */
export interface ServiceConfiguration extends VoucherConfiguration {
  /** Errors about references of the subscription mapping that don't exist. */
  missingReferences: readonly FieldError[]
}

/** Returns an error for each reference of the subscription mapping that doesn't exist. */
export const findMissingReferences = async (db: Db, service: Service): Promise<FieldError[]> =>
  checkMappedReferences(service.settings, await findMappedReferences(db, service, service.settings))

const buildSubscriptionCapabilities = (
  { subscriptionMapping }: Settings,
  { missingReferences }: Pick<ServiceConfiguration, 'missingReferences'>,
) =>
  (['email', 'sms'] as const).map(channel => {
    const missing = missingReferences.filter(({ pointer }) => pointer?.startsWith(`/subscriptionMapping/${channel}/`))
    const reason = subscriptionMapping[channel]
      ? missing.map(({ detail }) => detail).join(' ') || undefined
      : `\`${channel}Subscription\` is stored, but changes no customer reference. Set \`subscriptionMapping.${channel}\`.`
    return buildCapability(`${channel}SubscriptionMapping`, reason)
  })

/** Builds the capabilities that depend on the same things with every back office. */
export const buildCommonCapabilities = (
  settings: Settings,
  release: string | undefined,
  configuration?: ServiceConfiguration,
): Capability[] => [
  buildCapabilitySince('customersUpdatedAfter', release, customersUpdatedAfterRelease, 'GET /customers?updated_after='),
  buildCapability('paymentGateways', explainNoGateways(configuration)),
  buildCapability('vouchersIssue', explainNoVouchers(settings, configuration)),
  ...buildSubscriptionCapabilities(settings, configuration ?? { missingReferences: [] }),
]

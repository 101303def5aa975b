import type { FieldError } from '../../errors/api-error.ts'
import type { Settings } from '../tenancy/service-settings.ts'
import { formatAmount, getDecimals } from '../values/money.ts'
import { toMinorUnits } from './redemption.ts'
import type { VoucherInput } from './vouchers.ts'

/** The configuration of a service that its voucher capabilities depend on. */
export interface VoucherConfiguration {
  /** The names of its payment gateways. */
  gateways: readonly string[]
  /** True if the configured gift card SKU exists. */
  hasGiftCard: boolean
  /** Errors of the back office about the gift card SKU or the voucher type. */
  unsold?: readonly FieldError[]
}

/**
 * Returns an error for each missing setting without which no voucher can be issued. `hasGiftCard` is true if the gift card SKU exists. If it is
 * undefined, the SKU is not checked.
 */
export function findMissingSettings(settings: Settings, hasGiftCard?: boolean): FieldError[] {
  const { vouchersEnabled, voucherType, giftCardSku } = settings
  const missing = (setting: string, reason: string): FieldError => ({
    code: 'voucher_not_configured',
    detail: `The setting \`${setting}\` must be set: ${reason}.`,
  })
  return [
    ...(vouchersEnabled ? [] : [missing('vouchersEnabled', 'the gift voucher function is off')]),
    ...(voucherType === null ? [missing('voucherType', 'it is the type of new vouchers')] : []),
    ...(giftCardSku === null ? [missing('giftCardSku', 'it is the SKU that gift vouchers are sold as')] : []),
    ...(giftCardSku !== null && hasGiftCard === false ? [giftCardNotFound(settings)] : []),
  ]
}

/** Returns the error of a gift card SKU that does not exist. */
export const giftCardNotFound = ({ giftCardSku }: Settings): FieldError => ({
  code: 'voucher_not_configured',
  detail: `SKU \`${giftCardSku}\` of the setting \`giftCardSku\` isn't in the back office.`,
})

const gatewayNotFound = (name: string): FieldError => ({
  code: 'voucher_not_configured',
  detail: `Payment gateway \`${name}\` of the setting \`voucherGateway\` not found.`,
})

/** Returns the gateway of a new voucher: from the request, otherwise from the service's settings. Null if neither has one. */
export const getGateway = ({ gateway }: Pick<VoucherInput, 'gateway'>, { voucherGateway }: Settings): string | null =>
  gateway ?? voucherGateway

/** Returns all reasons why no voucher can be issued, or undefined if vouchers can be issued. Without `configuration`, only settings are checked. */
export function explainNoVouchers(settings: Settings, configuration?: VoucherConfiguration): string | undefined {
  const { voucherGateway } = settings
  const isUnknown = configuration && voucherGateway !== null && !configuration.gateways.includes(voucherGateway)
  const errors = [
    ...findMissingSettings(settings, configuration?.hasGiftCard),
    ...(isUnknown ? [gatewayNotFound(voucherGateway)] : []),
    ...(configuration?.unsold ?? []),
  ]
  const reasons = errors.map(({ detail }) => detail)
  return reasons.length ? reasons.join(' ') : undefined
}

/** Returns the reason why the only payment method is vouchers, or undefined if there is a payment gateway. */
export const explainNoGateways = (configuration?: VoucherConfiguration): string | undefined =>
  configuration?.gateways.length === 0 ? 'The setting `gateways` has no payment gateway.' : undefined

/** Returns the maximum amount of a new voucher in minor units, to catch typing errors. Currencies without decimals have small units. */
const getMaxUnits = (decimals: number) => (decimals ? 100_000n * 10n ** BigInt(decimals) : 10_000_000n)

interface IssueContext {
  /** The names of the payment gateways. */
  gateways: readonly string[]
  /** `YYYY-MM-DD` in the service's time zone, like `expiryDate`. */
  today: string
  expiryDate: string
}

/** Returns every error of a new voucher that the schema can't express. */
export function validateIssue(
  input: VoucherInput,
  settings: Settings,
  { gateways, today, expiryDate }: IssueContext,
): FieldError[] {
  const { currency } = settings
  const errors: FieldError[] = []
  const addError = (field: string, detail: string, code: FieldError['code'] = 'invalid_field') =>
    errors.push({ pointer: `/${field}`, code, detail })
  const units = toMinorUnits(input.amount, settings)
  const maximum = getMaxUnits(getDecimals(currency))
  if (units <= 0n || units > maximum)
    addError(
      'amount',
      `\`amount\` must be greater than 0 and at most ${formatAmount(maximum, getDecimals(currency))} ${currency}.`,
    )
  if (typeof input.currency === 'string' && input.currency !== currency)
    addError('currency', `\`currency\` must be ${currency}, the currency of the service.`)
  const gateway = getGateway(input, settings)
  if (gateway !== null && !gateways.includes(gateway) && !input.gateway) errors.push(gatewayNotFound(gateway))
  else if (gateway !== null && !gateways.includes(gateway))
    addError(
      'gateway',
      `\`gateway\` must be one of ${gateways.map(name => `\`${name}\``).join(', ')}.`,
      'unknown_gateway',
    )
  const { deliveryDate } = input
  if (deliveryDate && (deliveryDate < today || deliveryDate > expiryDate))
    addError('deliveryDate', `\`deliveryDate\` must be from ${today} to ${expiryDate}, the expiry date of the voucher.`)
  const { contactName: _, companyName: __, ...addressFields } = input.billingAddress
  if (!Object.values(addressFields).some(text => text?.trim()))
    addError('billingAddress', '`billingAddress` must have at least one address field, such as `city` or `country`.')
  return errors
}

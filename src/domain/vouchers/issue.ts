import type { FieldError } from '../../errors/api-error.ts'
import type { Settings } from '../tenancy/service-settings.ts'
import { amount, decimalsOf } from '../values/money.ts'
import { unitsOf } from './redemption.ts'
import type { VoucherInput } from './vouchers.ts'

/** What a service has that some capabilities depend on. */
export interface Configured {
  /** The names of its payment gateways. */
  gateways: readonly string[]
  /** Whether the SKU is known that gift vouchers are sold as, where one is set. */
  hasGiftCard: boolean
  /** Why vouchers cannot be sold as it in the type that is set, where a back office says so. */
  unsold?: readonly FieldError[]
}

/** What has to be set before vouchers can be made, where it is not: every setting at once. `hasGiftCard`: whether the SKU they are sold as is there; undefined: not looked at. */
export function unconfigured(settings: Settings, hasGiftCard?: boolean): FieldError[] {
  const { vouchersEnabled, voucherType, giftCardSku } = settings
  const missing = (setting: string, what: string): FieldError => ({
    code: 'voucher_not_configured',
    detail: `The setting \`${setting}\` must be set: ${what}.`,
  })
  return [
    ...(vouchersEnabled ? [] : [missing('vouchersEnabled', 'the gift voucher function is off')]),
    ...(voucherType === null ? [missing('voucherType', 'it is the type of new vouchers')] : []),
    ...(giftCardSku === null ? [missing('giftCardSku', 'it is the SKU that gift vouchers are sold as')] : []),
    ...(giftCardSku !== null && hasGiftCard === false ? [unknownGiftCard(settings)] : []),
  ]
}

/** The SKU that vouchers are sold as is not there. */
export const unknownGiftCard = ({ giftCardSku }: Settings): FieldError => ({
  code: 'voucher_not_configured',
  detail: `SKU \`${giftCardSku}\` of the setting \`giftCardSku\` isn't in the back office.`,
})

const unknownGateway = (name: string): FieldError => ({
  code: 'voucher_not_configured',
  detail: `Payment gateway \`${name}\` of the setting \`voucherGateway\` not found.`,
})

/** The gateway that a voucher is paid through: the one named, else the service's; null where there is none, and none is recorded. */
export const gatewayOf = ({ gateway }: Pick<VoucherInput, 'gateway'>, { voucherGateway }: Settings): string | null =>
  gateway ?? voucherGateway

/** Why no vouchers can be made, all of it; undefined where they can. What is not `known` is not looked at. */
export function whyNoVouchers(settings: Settings, known?: Configured): string | undefined {
  const { voucherGateway } = settings
  const noSuch = known && voucherGateway !== null && !known.gateways.includes(voucherGateway)
  const faults = [
    ...unconfigured(settings, known?.hasGiftCard),
    ...(noSuch ? [unknownGateway(voucherGateway)] : []),
    ...(known?.unsold ?? []),
  ]
  const reasons = faults.map(({ detail }) => detail)
  return reasons.length ? reasons.join(' ') : undefined
}

/** Why nothing can be paid but with vouchers. */
export const whyNoGateways = (known?: Configured): string | undefined =>
  known?.gateways.length === 0 ? 'The setting `gateways` has no payment gateway.' : undefined

/** What a new voucher may be worth: a bound for slips of the keyboard. Most currencies have decimals; one without has small units. */
const mostUnits = (decimals: number) => (decimals ? 100_000n * 10n ** BigInt(decimals) : 10_000_000n)

interface Known {
  /** The names of the payment gateways. */
  gateways: readonly string[]
  /** Days, `YYYY-MM-DD`, in the service's time zone. */
  today: string
  expiryDate: string
}

/** What a new voucher cannot be, beside its shape: every fault at once. */
export function issueFaults(
  input: VoucherInput,
  settings: Settings,
  { gateways, today, expiryDate }: Known,
): FieldError[] {
  const { currency } = settings
  const faults: FieldError[] = []
  const fault = (field: string, detail: string, code: FieldError['code'] = 'invalid_field') =>
    faults.push({ pointer: `/${field}`, code, detail })
  const units = unitsOf(input.amount, settings)
  const most = mostUnits(decimalsOf(currency))
  if (units <= 0n || units > most)
    fault('amount', `\`amount\` must be greater than 0 and at most ${amount(most, decimalsOf(currency))} ${currency}.`)
  if (typeof input.currency === 'string' && input.currency !== currency)
    fault('currency', `\`currency\` must be ${currency}, the currency of the service.`)
  const gateway = gatewayOf(input, settings)
  if (gateway !== null && !gateways.includes(gateway) && !input.gateway) faults.push(unknownGateway(gateway))
  else if (gateway !== null && !gateways.includes(gateway))
    fault('gateway', `\`gateway\` must be one of ${gateways.map(name => `\`${name}\``).join(', ')}.`, 'unknown_gateway')
  const { deliveryDate } = input
  if (deliveryDate && (deliveryDate < today || deliveryDate > expiryDate))
    fault('deliveryDate', `\`deliveryDate\` must be from ${today} to ${expiryDate}, the expiry date of the voucher.`)
  const { contactName: _, companyName: __, ...where } = input.billingAddress
  if (!Object.values(where).some(text => text?.trim()))
    fault('billingAddress', '`billingAddress` must have at least one address field, such as `city` or `country`.')
  return faults
}

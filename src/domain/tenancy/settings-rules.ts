import type { FieldError } from '../../errors/api-error.ts'
import { type Static, type TSchema, Type } from '../../schemas/schemas.ts'
import { Nullable } from '../values/fields.ts'
import { isRelease } from '../values/release.ts'
import { isTimeZone } from '../values/time-zone.ts'
import { gateways } from './gateways.ts'
import { Settings } from './service-settings.ts'

/** The settings in `GET /settings`: those of the service and the payment gateways, which have a table of their own. */
export type ShownSettings = Static<typeof ShownSettings>
export const ShownSettings = Type.Object(
  { ...Settings.properties, gateways },
  { $id: 'Settings', additionalProperties: false },
)

/** Returns the default of a setting. */
export const getDefault = (name: string): unknown =>
  (ShownSettings.properties as Record<string, { default?: unknown }>)[name]?.default

/** A change of settings. Null resets a setting to its default. */
export type SettingsChange = { [name in keyof ShownSettings]?: ShownSettings[name] | null }
export const SettingsChange = Type.Object(
  Object.fromEntries(
    Object.entries<TSchema>(ShownSettings.properties).map(([name, setting]) => {
      // A missing setting is kept, so the change has no defaults.
      const schema: TSchema = { ...setting, default: undefined }
      return [name, Type.Optional(getDefault(name) === null ? schema : Nullable(schema))]
    }),
  ),
  { additionalProperties: false },
)

/** The body of `PUT /settings`. */
export type SettingsInput = SettingsChange & { confirmCurrencyChange?: boolean }
export const SettingsInput = Type.Object(
  {
    ...SettingsChange.properties,
    confirmCurrencyChange: Type.Optional(
      Type.Boolean({
        description:
          'True confirms a change of `currency` of a service that has amounts: they are not converted. It is not a setting.',
        examples: [true],
      }),
    ),
  },
  { $id: 'SettingsChange', additionalProperties: false },
)

/** Kinds of stored records with amounts. */
export const amountKinds = ['products', 'orders', 'sales', 'vouchers', 'reward accounts'] as const
export type AmountKind = (typeof amountKinds)[number]

/**
 * Returns the effect of a change of the currency on stored amounts. Returns undefined if the currency stays or no amounts are stored.
 */
export function explainCurrencyChange(
  before: string,
  after: string,
  stored: readonly AmountKind[],
): string | undefined {
  if (before === after || !stored.length) return
  return `The service has ${stored.join(', ')}. No amount is converted: product prices and rewards are shown in ${after}, while orders, sales and vouchers keep ${before}. Vouchers in ${before} can't pay for orders in ${after}.`
}

/** Returns an error if a change of the currency isn't confirmed. `instruction` is a sentence on how to confirm it. */
export const checkCurrencyChange = (
  effect: string | undefined,
  isConfirmed: boolean,
  instruction: string,
): FieldError[] =>
  effect === undefined || isConfirmed
    ? []
    : [
        {
          pointer: '/currency',
          code: 'invalid_field',
          detail: `\`currency\` can't be changed without confirmation. ${effect} ${instruction}`,
        },
      ]

/** Returns the errors of settings that the schema can't express. */
export const checkSettings = (change: SettingsChange): FieldError[] => [
  ...checkReasonCodes(change),
  ...checkSubscriptionMapping(change),
]

function checkReasonCodes({ returnReasons }: SettingsChange): FieldError[] {
  const codes = returnReasons?.map(({ code }) => code) ?? []
  return codes.flatMap((code, i) =>
    codes.indexOf(code) < i
      ? [
          {
            pointer: `/returnReasons/${i}/code`,
            code: 'invalid_field' as const,
            detail: `The code ${code} can't be used twice.`,
          },
        ]
      : [],
  )
}

/** Returns the errors of a change, including those that depend on the stored settings. */
export function checkSettingsChange(change: SettingsChange, before: ReturnSettings): FieldError[] {
  const { returnReasons, defaultReturnReason } = change
  const after = {
    returnReasons: returnReasons === undefined ? before.returnReasons : (returnReasons ?? []),
    defaultReturnReason: defaultReturnReason === undefined ? before.defaultReturnReason : defaultReturnReason,
  }
  return [...checkSettings(change), ...checkDefaultReason(change, after)]
}

type ReturnSettings = Pick<Settings, 'returnReasons' | 'defaultReturnReason'>

/** Returns an error if `defaultReturnReason` would not be one of the `returnReasons` after a change. */
export function checkDefaultReason(
  change: SettingsChange,
  { returnReasons, defaultReturnReason }: ReturnSettings,
): FieldError[] {
  if (change.returnReasons === undefined && change.defaultReturnReason === undefined) return []
  if (defaultReturnReason === null || returnReasons.some(({ code }) => code === defaultReturnReason)) return []
  const pointer = change.defaultReturnReason === undefined ? '/returnReasons' : '/defaultReturnReason'
  const detail = `\`defaultReturnReason\` must be a code of \`returnReasons\`, or null; ${defaultReturnReason} isn't one.`
  return [{ pointer, code: 'invalid_field', detail }]
}

/** Each subscription needs its own reference type, with different values for yes and no. */
function checkSubscriptionMapping({ subscriptionMapping }: SettingsChange): FieldError[] {
  const { email, sms } = subscriptionMapping ?? {}
  const base = '/subscriptionMapping'
  const createError = (pointer: string, detail: string): FieldError => ({
    pointer: base + pointer,
    code: 'invalid_field',
    detail,
  })
  return [
    ...(email && email.yes === email.no ? [createError('/email/no', '`no` must differ from `yes`.')] : []),
    ...(sms && sms.yes === sms.no ? [createError('/sms/no', '`no` must differ from `yes`.')] : []),
    ...(email && sms && email.type === sms.type
      ? [createError('/sms/type', '`type` must differ from the type of `email`.')]
      : []),
  ]
}

/** Which references of a channel's mapping exist. */
export interface MappedReferences {
  channel: 'email' | 'sms'
  type: boolean
  yes: boolean
  no: boolean
}

/** Returns an error for each type and value of a subscription mapping that is not in the reference cache. */
export const checkMappedReferences = (
  { subscriptionMapping: mapping }: Pick<SettingsChange, 'subscriptionMapping'>,
  stored: readonly MappedReferences[],
): FieldError[] =>
  stored.flatMap(({ channel, ...exists }) => {
    const { type = '', yes = '', no = '' } = mapping?.[channel] ?? {}
    const notFound = (field: string, name: string): FieldError => ({
      pointer: `/subscriptionMapping/${channel}/${field}`,
      code: 'invalid_field',
      detail: `${name} not found. Import or sync the references first.`,
    })
    if (!exists.type) return [notFound('type', `Reference type ${type}`)]
    return [
      ...(exists.yes ? [] : [notFound('yes', `Value ${yes} of the reference type ${type}`)]),
      ...(exists.no ? [] : [notFound('no', `Value ${no} of the reference type ${type}`)]),
    ]
  })

/** Formats of settings: each returns what the value must be, or undefined if it is valid. */
export const settingFormats: Readonly<Record<string, (text: string) => string | undefined>> = {
  'time-zone': text => (isTimeZone(text) ? undefined : 'an IANA time zone'),
  currency: text => (Intl.supportedValuesOf('currency').includes(text) ? undefined : 'an ISO 4217 currency'),
  colour: text => (/^#[\da-f]{6}$/i.test(text) ? undefined : 'a colour in the form #rrggbb'),
  'https-url': text => (isHttpsUrl(text) ? undefined : 'an https:// URL without a password'),
  release: text => (isRelease(text) ? undefined : 'a version such as 2025.1'),
}

function isHttpsUrl(text: string) {
  const { protocol, username, password } = URL.parse(text) ?? {}
  return protocol === 'https:' && !username && !password && !/\s/.test(text)
}

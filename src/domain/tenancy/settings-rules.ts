import type { FieldError } from '../../errors/api-error.ts'
import { type Static, type TSchema, Type } from '../../schemas/schemas.ts'
import { Nullable } from '../values/fields.ts'
import { isRelease } from '../values/release.ts'
import { isTimeZone } from '../values/time-zone.ts'
import { gateways } from './gateways.ts'
import { Settings } from './service-settings.ts'

/** The settings as `GET /settings` shows them: the payment gateways, which have a table of their own, with them. */
export type ShownSettings = Static<typeof ShownSettings>
export const ShownSettings = Type.Object(
  { ...Settings.properties, gateways },
  { $id: 'Settings', additionalProperties: false },
)

/** What holds where a service says nothing, by the name of the setting. */
export const defaultOf = (name: string): unknown =>
  (ShownSettings.properties as Record<string, { default?: unknown }>)[name]?.default

/** Any of the settings; null stands for the default. */
export type SettingsChange = { [name in keyof ShownSettings]?: ShownSettings[name] | null }
export const SettingsChange = Type.Object(
  Object.fromEntries(
    Object.entries<TSchema>(ShownSettings.properties).map(([name, shown]) => {
      // What a change leaves out stays as it is: nothing comes in its place.
      const shape: TSchema = { ...shown, default: undefined }
      return [name, Type.Optional(defaultOf(name) === null ? shape : Nullable(shape))]
    }),
  ),
  { $id: 'SettingsChange', additionalProperties: false },
)

/** The faults of settings that a rule about several of their parts tells. */
export const faultsAmong = (change: SettingsChange): FieldError[] => [...codesTwice(change), ...ambiguities(change)]

function codesTwice({ returnReasons }: SettingsChange): FieldError[] {
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

/** All faults that rules about several settings tell of a change of these. */
export function faultsAgainst(change: SettingsChange, before: ReturnSettings): FieldError[] {
  const { returnReasons, defaultReturnReason } = change
  const after = {
    returnReasons: returnReasons === undefined ? before.returnReasons : (returnReasons ?? []),
    defaultReturnReason: defaultReturnReason === undefined ? before.defaultReturnReason : defaultReturnReason,
  }
  return [...faultsAmong(change), ...faultsAfter(change, after)]
}

type ReturnSettings = Pick<Settings, 'returnReasons' | 'defaultReturnReason'>

/** The faults of settings as a change would leave them: one of them names what another one does not have. */
export function faultsAfter(
  change: SettingsChange,
  { returnReasons, defaultReturnReason }: ReturnSettings,
): FieldError[] {
  if (change.returnReasons === undefined && change.defaultReturnReason === undefined) return []
  if (defaultReturnReason === null || returnReasons.some(({ code }) => code === defaultReturnReason)) return []
  const pointer = change.defaultReturnReason === undefined ? '/returnReasons' : '/defaultReturnReason'
  const detail = `\`defaultReturnReason\` must be a code of \`returnReasons\`, or null; ${defaultReturnReason} isn't one.`
  return [{ pointer, code: 'invalid_field', detail }]
}

/** A reference has one value: it cannot stand for two subscriptions, nor one value for yes and for no. */
function ambiguities({ subscriptionMapping }: SettingsChange): FieldError[] {
  const { email, sms } = subscriptionMapping ?? {}
  const at = '/subscriptionMapping'
  const fault = (pointer: string, detail: string): FieldError => ({
    pointer: at + pointer,
    code: 'invalid_field',
    detail,
  })
  return [
    ...(email && email.yes === email.no ? [fault('/email/no', '`no` must differ from `yes`.')] : []),
    ...(sms && sms.yes === sms.no ? [fault('/sms/no', '`no` must differ from `yes`.')] : []),
    ...(email && sms && email.type === sms.type
      ? [fault('/sms/type', '`type` must differ from the type of `email`.')]
      : []),
  ]
}

/** What a text of a setting's own format has to be, where it is not. */
export const settingFormats: Readonly<Record<string, (text: string) => string | undefined>> = {
  'time-zone': text => (isTimeZone(text) ? undefined : 'an IANA time zone'),
  currency: text => (Intl.supportedValuesOf('currency').includes(text) ? undefined : 'an ISO 4217 currency'),
  release: text => (isRelease(text) ? undefined : 'a version such as 2025.1'),
}

import type { Fault } from '../../errors/api-error.ts'
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
export const faultsAmong = (change: SettingsChange): Fault[] => [...codesTwice(change), ...ambiguities(change)]

function codesTwice({ returnReasons }: SettingsChange): Fault[] {
  const codes = returnReasons?.map(({ code }) => code) ?? []
  return codes.flatMap((code, i) =>
    codes.indexOf(code) < i
      ? [
          {
            pointer: `/returnReasons/${i}/code`,
            code: 'invalid_field' as const,
            detail: `The code ${code} is given twice.`,
          },
        ]
      : [],
  )
}

/** All faults that rules about several settings tell of a change of these. */
export function faultsAgainst(change: SettingsChange, before: ReturnSettings): Fault[] {
  const { returnReasons, defaultReturnReason } = change
  const after = {
    returnReasons: returnReasons === undefined ? before.returnReasons : (returnReasons ?? []),
    defaultReturnReason: defaultReturnReason === undefined ? before.defaultReturnReason : defaultReturnReason,
  }
  return [...faultsAmong(change), ...faultsAfter(change, after)]
}

type ReturnSettings = Pick<Settings, 'returnReasons' | 'defaultReturnReason'>

/** The faults of settings as a change would leave them: one of them names what another one does not have. */
export function faultsAfter(change: SettingsChange, { returnReasons, defaultReturnReason }: ReturnSettings): Fault[] {
  if (change.returnReasons === undefined && change.defaultReturnReason === undefined) return []
  if (defaultReturnReason === null || returnReasons.some(({ code }) => code === defaultReturnReason)) return []
  const pointer = change.defaultReturnReason === undefined ? '/returnReasons' : '/defaultReturnReason'
  const detail = `\`defaultReturnReason\` is a code of \`returnReasons\`, or null; there is no ${defaultReturnReason}.`
  return [{ pointer, code: 'invalid_field', detail }]
}

/** A reference has one value: it cannot stand for two subscriptions, nor one value for yes and for no. */
function ambiguities({ subscriptionMapping }: SettingsChange): Fault[] {
  const { email, sms } = subscriptionMapping ?? {}
  const at = '/subscriptionMapping'
  const fault = (pointer: string, detail: string): Fault => ({ pointer: at + pointer, code: 'invalid_field', detail })
  return [
    ...(email && email.yes === email.no ? [fault('/email/no', '`no` is another value than `yes`.')] : []),
    ...(sms && sms.yes === sms.no ? [fault('/sms/no', '`no` is another value than `yes`.')] : []),
    ...(email && sms && email.type === sms.type ? [fault('/sms/type', 'E-mails have this type already.')] : []),
  ]
}

/** What a text of a setting's own format has to be, where it is not. */
export const settingFormats: Readonly<Record<string, (text: string) => string | undefined>> = {
  'time-zone': text => (isTimeZone(text) ? undefined : 'a time zone as the IANA names it'),
  currency: text => (Intl.supportedValuesOf('currency').includes(text) ? undefined : 'a currency of ISO 4217'),
  release: text => (isRelease(text) ? undefined : 'a year, a number and perhaps a letter'),
}

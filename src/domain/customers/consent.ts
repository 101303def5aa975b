import type { FieldError } from '../../errors/api-error.ts'
import type { Settings } from '../tenancy/service-settings.ts'
import { pointerTo } from './references.ts'

/** What a customer has agreed to. `privacy` is the inverse of the accept-marketing status. */
export interface Consent {
  privacy: boolean
  emailSubscription: boolean
  smsSubscription: boolean
}

/** What a request says of it: a flag that is null goes back to no consent. */
type Said = { [flag in keyof Consent]?: boolean | null | undefined }

const subscriptions = [
  ['email', 'emailSubscription'],
  ['sms', 'smsSubscription'],
] as const

/** No marketing without consent. */
export const noConsent: Consent = { privacy: true, emailSubscription: false, smsSubscription: false }

/** All that anybody can have agreed to. */
export const fullConsent: Consent = { privacy: false, emailSubscription: true, smsSubscription: true }

const wantsPrivacy = ({ privacy }: Said) => privacy === null || privacy === true
const subscribes = ({ emailSubscription, smsSubscription }: Said) => Boolean(emailSubscription || smsSubscription)

/** The subscriptions that privacy ends: who wants no marketing wants none of them, unless the request sets one (contract 15). */
const endedByPrivacy = (before: Consent, said: Said) =>
  wantsPrivacy(said) && !subscribes(said)
    ? subscriptions.map(([, flag]) => flag).filter(flag => before[flag] && said[flag] === undefined)
    : []

/** What a request says of each flag, with the subscriptions that it ends without naming them. */
export const allSaid = (before: Consent, { privacy, emailSubscription, smsSubscription }: Said): Said => ({
  privacy,
  emailSubscription,
  smsSubscription,
  ...Object.fromEntries(
    endedByPrivacy(before, { privacy, emailSubscription, smsSubscription }).map(flag => [flag, false]),
  ),
})

/** The consent after a request. A subscription is consent to marketing, so one that the request sets outranks privacy. */
export function consentAfter(before: Consent, request: Said): Consent {
  const said = allSaid(before, request)
  const now = (flag: keyof Consent) => {
    const value = said[flag]
    return value === undefined ? before[flag] : (value ?? noConsent[flag])
  }
  const [emailSubscription, smsSubscription] = [now('emailSubscription'), now('smsSubscription')]
  return { privacy: now('privacy') && !emailSubscription && !smsSubscription, emailSubscription, smsSubscription }
}

const channels = {
  marketing: ({ privacy }: Consent) => !privacy,
  email: ({ emailSubscription }: Consent) => emailSubscription,
  sms: ({ smsSubscription }: Consent) => smsSubscription,
}

/** One line of the consent record; `old` is null for a new customer. */
export interface ConsentChange {
  channel: keyof typeof channels
  old: boolean | null
  new: boolean
}

/** What has changed of a consent, channel by channel; all of it where there was none. */
export const consentChanges = (before: Consent | undefined, after: Consent): ConsentChange[] =>
  Object.entries(channels)
    .map(([channel, given]) => ({
      channel: channel as keyof typeof channels,
      old: before ? given(before) : null,
      new: given(after),
    }))
    .filter(change => change.old !== change.new)

type Mapping = Settings['subscriptionMapping']

/** The types of reference that stand for a subscription. */
export const mappedTypes = (mapping: Mapping) =>
  new Set(subscriptions.flatMap(([channel]) => mapping[channel]?.type ?? []))

/** The references that follow from the flags of a request (contract 4, "subscription mapping"): type and value. */
export const mappedReferences = (said: Said, mapping: Mapping) =>
  subscriptions.flatMap(([channel, flag]): [type: string, value: string][] => {
    const mapped = mapping[channel]
    return mapped && said[flag] !== undefined ? [[mapped.type, said[flag] ? mapped.yes : mapped.no]] : []
  })

/**
 * References of a request that say something else than the flags: consent is given by its flag alone. One that is what the flag
 * stands for may be sent along, and without the flag one that is stored so.
 */
export function contradictions(
  given: ReadonlyMap<string, string | null>,
  stored: ReadonlyMap<string, string>,
  said: Said,
  after: Consent,
  mapping: Mapping,
): FieldError[] {
  return subscriptions.flatMap(([channel, flag]): FieldError[] => {
    const mapped = mapping[channel]
    const value = mapped && given.get(mapped.type)
    if (!mapped || value === undefined) return []
    if (value === (after[flag] ? mapped.yes : mapped.no)) return []
    if (said[flag] === undefined && value === (stored.get(mapped.type) ?? null)) return []
    const detail = `This reference must match \`${flag}\`: ${mapped.yes} for true, ${mapped.no} for false.`
    return [{ pointer: pointerTo(mapped.type), code: 'invalid_field', detail }]
  })
}

/** What a caller should know of a change of consent although it was done. */
export function consentWarnings(before: Consent, said: Said, mapping: Mapping) {
  const warnings = subscriptions
    .filter(([channel, flag]) => said[flag] !== undefined && !mapping[channel])
    .map(([, flag]) => ({
      code: 'subscription_not_mapped',
      detail: `No reference is mapped to \`${flag}\`, so the flag is stored in Tillbridge only, not in the back office.`,
    }))
  if (wantsPrivacy(said) && subscribes(said)) {
    const detail = '`privacy` is now false, because the request sets a subscription, which is consent to marketing.'
    return [...warnings, { code: 'privacy_overridden', detail }]
  }
  const ended = endedByPrivacy(before, said).map(flag => `\`${flag}\``)
  if (!ended.length) return warnings
  const detail = `\`privacy\` withdraws consent to marketing, which ended ${ended.join(' and ')}.`
  return [...warnings, { code: 'subscriptions_ended', detail }]
}

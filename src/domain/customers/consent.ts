import type { Fault } from '../../errors.ts'
import type { Settings } from '../../settings.ts'
import { pointerTo } from './references.ts'

/** What a customer has agreed to. `privacy` is the inverse of the accept-marketing status. */
export interface Consent {
  privacy: boolean
  emailSubscription: boolean
  smsSubscription: boolean
}

/** What a request says of it: a flag that is null goes back to no consent. */
type Said = { [flag in keyof Consent]?: boolean | null }

/** No marketing without consent. */
export const noConsent: Consent = { privacy: true, emailSubscription: false, smsSubscription: false }

/** The consent after a request. A subscription is consent to marketing, so it outranks privacy: one that stays on does, too. */
export function consentAfter(before: Consent, said: Said): Consent {
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

const subscriptions = [
  ['email', 'emailSubscription'],
  ['sms', 'smsSubscription'],
] as const

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
): Fault[] {
  return subscriptions.flatMap(([channel, flag]): Fault[] => {
    const mapped = mapping[channel]
    const value = mapped && given.get(mapped.type)
    if (!mapped || value === undefined) return []
    if (value === (after[flag] ? mapped.yes : mapped.no)) return []
    if (said[flag] === undefined && value === (stored.get(mapped.type) ?? null)) return []
    const detail = `This reference follows \`${flag}\`: ${mapped.yes} stands for true, ${mapped.no} for false.`
    return [{ pointer: pointerTo(mapped.type), code: 'invalid_field', detail }]
  })
}

/** What a caller should know of a change of consent although it was done. */
export function consentWarnings(said: Said, after: Consent, mapping: Mapping) {
  const unmapped = subscriptions
    .filter(([channel, flag]) => said[flag] !== undefined && !mapping[channel])
    .map(([, flag]) => ({
      code: 'subscription_not_mapped',
      detail: `No reference stands for \`${flag}\`: the flag is kept by this service, and not known to the back office.`,
    }))
  const wanted = said.privacy === null || said.privacy
  if (!wanted || after.privacy) return unmapped
  const detail = '`privacy` is false: the customer has a subscription, which is consent to marketing.'
  return [...unmapped, { code: 'privacy_overridden', detail }]
}

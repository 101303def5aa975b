import type { FieldError } from '../../errors/api-error.ts'
import type { Settings } from '../tenancy/service-settings.ts'
import { getReferencePointer } from './references.ts'

/** The consent of a customer. `privacy` is the inverse of consent to marketing. */
export interface Consent {
  privacy: boolean
  emailSubscription: boolean
  smsSubscription: boolean
}

/** The consent in a request. A null flag resets it to no consent. */
type ConsentInput = { [flag in keyof Consent]?: boolean | null | undefined }

const subscriptions = [
  ['email', 'emailSubscription'],
  ['sms', 'smsSubscription'],
] as const

/** No marketing without consent. */
export const noConsent: Consent = { privacy: true, emailSubscription: false, smsSubscription: false }

/** Consent to everything. */
export const fullConsent: Consent = { privacy: false, emailSubscription: true, smsSubscription: true }

const wantsPrivacy = ({ privacy }: ConsentInput) => privacy === null || privacy === true
const subscribes = ({ emailSubscription, smsSubscription }: ConsentInput) =>
  Boolean(emailSubscription || smsSubscription)

/** Returns the subscriptions that `privacy: true` ends, unless the request sets one of them. */
const getEndedSubscriptions = (before: Consent, input: ConsentInput) =>
  wantsPrivacy(input) && !subscribes(input)
    ? subscriptions.map(([, flag]) => flag).filter(flag => before[flag] && input[flag] === undefined)
    : []

/** Returns the flags of a request. A subscription that the request ends implicitly is false. */
export const getConsentInput = (
  before: Consent,
  { privacy, emailSubscription, smsSubscription }: ConsentInput,
): ConsentInput => ({
  privacy,
  emailSubscription,
  smsSubscription,
  ...Object.fromEntries(
    getEndedSubscriptions(before, { privacy, emailSubscription, smsSubscription }).map(flag => [flag, false]),
  ),
})

/** Returns the consent after a request. A subscription is consent to marketing, so it overrides `privacy`. */
export function applyConsent(before: Consent, request: ConsentInput): Consent {
  const input = getConsentInput(before, request)
  const getFlag = (flag: keyof Consent) => {
    const value = input[flag]
    return value === undefined ? before[flag] : (value ?? noConsent[flag])
  }
  const [emailSubscription, smsSubscription] = [getFlag('emailSubscription'), getFlag('smsSubscription')]
  return { privacy: getFlag('privacy') && !emailSubscription && !smsSubscription, emailSubscription, smsSubscription }
}

const channels = {
  marketing: ({ privacy }: Consent) => !privacy,
  email: ({ emailSubscription }: Consent) => emailSubscription,
  sms: ({ smsSubscription }: Consent) => smsSubscription,
}

/** An entry of the consent record. `old` is null for a new customer. */
export interface ConsentChange {
  channel: keyof typeof channels
  old: boolean | null
  new: boolean
}

/** Returns the changes of a consent by channel. For a new customer, every channel. */
export const getConsentChanges = (before: Consent | undefined, after: Consent): ConsentChange[] =>
  Object.entries(channels)
    .map(([channel, hasConsent]) => ({
      channel: channel as keyof typeof channels,
      old: before ? hasConsent(before) : null,
      new: hasConsent(after),
    }))
    .filter(change => change.old !== change.new)

type Mapping = Settings['subscriptionMapping']

/** Returns the reference types that represent a subscription. */
export const getMappedTypes = (mapping: Mapping) =>
  new Set(subscriptions.flatMap(([channel]) => mapping[channel]?.type ?? []))

/** Returns the references that the flags of a request set (setting `subscriptionMapping`): type and value. */
export const getMappedReferences = (input: ConsentInput, mapping: Mapping) =>
  subscriptions.flatMap(([channel, flag]): [type: string, value: string][] => {
    const mapped = mapping[channel]
    return mapped && input[flag] !== undefined ? [[mapped.type, input[flag] ? mapped.yes : mapped.no]] : []
  })

/**
 * Returns an error for each reference of a request that contradicts its flag, because only the flag changes consent. `values`: the references
 * of the request by type. `stored`: the stored ones. If the request has no flag, the stored value of the reference is accepted too.
 */
export function findConsentConflicts(
  values: ReadonlyMap<string, string | null>,
  stored: ReadonlyMap<string, string>,
  input: ConsentInput,
  after: Consent,
  mapping: Mapping,
): FieldError[] {
  return subscriptions.flatMap(([channel, flag]): FieldError[] => {
    const mapped = mapping[channel]
    const value = mapped && values.get(mapped.type)
    if (!mapped || value === undefined) return []
    if (value === (after[flag] ? mapped.yes : mapped.no)) return []
    if (input[flag] === undefined && value === (stored.get(mapped.type) ?? null)) return []
    const detail = `This reference must match \`${flag}\`: ${mapped.yes} for true, ${mapped.no} for false.`
    return [{ pointer: getReferencePointer(mapped.type), code: 'invalid_field', detail }]
  })
}

/** Returns warnings about a change of consent. */
export function getConsentWarnings(before: Consent, input: ConsentInput, mapping: Mapping) {
  const warnings = subscriptions
    .filter(([channel, flag]) => input[flag] !== undefined && !mapping[channel])
    .map(([, flag]) => ({
      code: 'subscription_not_mapped',
      detail: `No reference is mapped to \`${flag}\`, so the flag is stored in Tillbridge only, not in the back office.`,
    }))
  if (wantsPrivacy(input) && subscribes(input)) {
    const detail = '`privacy` is now false, because the request sets a subscription, which is consent to marketing.'
    return [...warnings, { code: 'privacy_overridden', detail }]
  }
  const ended = getEndedSubscriptions(before, input).map(flag => `\`${flag}\``)
  if (!ended.length) return warnings
  const detail = `\`privacy\` withdraws consent to marketing, which ended ${ended.join(' and ')}.`
  return [...warnings, { code: 'subscriptions_ended', detail }]
}

import { ApiError } from '../errors/api-error.ts'

export const signInFailed = (detail: string) => new ApiError('sign_in_failed', detail)

/** Codes of `openid-client` for responses that must not be trusted, each with the message for the person. */
const details: Readonly<Record<string, string>> = {
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED:
    "The identity provider's token isn't valid at this time. The clocks of both servers must agree: the operator must synchronize them by NTP.",
  OAUTH_JWT_CLAIM_COMPARISON_FAILED:
    "The identity provider's token was issued for another client or another sign-in. Sign in again.",
  OAUTH_KEY_SELECTION_FAILED: "The identity provider's token was signed with an unknown key. Sign in again.",
  OAUTH_INVALID_RESPONSE:
    "The identity provider's response is malformed, or its signature is invalid. Sign in again. If it fails again, the operator must check OIDC_ISSUER.",
}

/** Errors that the provider reports, each with the message for the person. */
const reportedErrors: Readonly<Record<string, string>> = {
  access_denied: 'The identity provider denied the access. Ask its administrator to permit you to use Tillbridge.',
  invalid_grant: "The identity provider's code has expired or was already used. Sign in again.",
  invalid_client:
    "The identity provider rejected Tillbridge's credentials. Sign in again. If it fails again, the operator must check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET.",
  invalid_scope: 'The identity provider rejected a scope. The operator must correct OIDC_SCOPES.',
}

/** Returns the code of an error, for the log. Its message and its cause can contain tokens and claims. */
export const getReason = (error: unknown): string => {
  const { code, error: reportedCode, name } = error as { code?: unknown; error?: unknown; name?: unknown }
  const reason = [reportedCode, code, (error as Error).cause && getReason((error as Error).cause), name].find(
    text => typeof text === 'string' && /^\w{1,60}$/.test(text),
  )
  return String(reason ?? 'unknown')
}

/** Throws the public error for an error of `openid-client`. */
export function explainFailure(cause: unknown): never {
  throw withReason(toPublicFailure(cause), cause)
}

/** Throws the public error for a provider whose metadata can't be read. */
export function explainDiscoveryFailure(cause: unknown): never {
  throw withReason(createUnavailable(), cause)
}

const withReason = (error: ApiError, cause: unknown) => Object.assign(error, { cause: new Error(getReason(cause)) })
const createUnavailable = () => new ApiError('identity_provider_unavailable', undefined, { retryAfter: 5 })

function toPublicFailure(cause: unknown): ApiError {
  const { code, error, name } = cause as { code?: string; error?: string; name?: string }
  if (error !== undefined) {
    const suffix = /^\w{1,60}$/.test(error) ? ` (${error})` : ''
    return signInFailed(reportedErrors[error] ?? `The identity provider rejected the sign-in${suffix}.`)
  }
  const detail = name === 'WWWAuthenticateChallengeError' ? reportedErrors.invalid_client : details[code ?? '']
  // The rest are failed connections, timeouts and unexpected statuses.
  return detail === undefined ? createUnavailable() : signInFailed(detail)
}

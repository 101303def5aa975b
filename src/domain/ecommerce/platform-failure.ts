/** Why a call to the e-commerce platform failed. */
type PlatformFailureKind =
  /** The credentials or the token were rejected. */
  | 'denied'
  /** A scope or the access to protected data is missing. */
  | 'scope'
  /** The platform can't be reached, is overloaded, or throttles for too long. */
  | 'unavailable'
  /** The platform rejected the request, or its response is invalid. */
  | 'invalid'

/** A failed call to the e-commerce platform. The message has no secrets and no personal data. */
export class PlatformFailure extends Error {
  readonly kind: PlatformFailureKind

  constructor(kind: PlatformFailureKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'PlatformFailure'
    this.kind = kind
  }
}

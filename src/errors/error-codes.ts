interface ErrorDefinition {
  status: number
  /** The problem, in one sentence. */
  title: string
  /** The next step for the caller. */
  remedy: string
}

/** Every error that the API can return. The OpenAPI document, docs/reference/errors.md and the error pages are generated from it. */
export const errorCodes = {
  malformed_request: {
    status: 400,
    title: 'The HTTP request is malformed.',
    remedy: 'Check your HTTP client. Requests must follow RFC 9112.',
  },
  malformed_json: {
    status: 400,
    title: "The body isn't valid JSON.",
    remedy: 'Send UTF-8 JSON without duplicate names, at most 32 levels deep, with numbers that fit a double exactly.',
  },
  invalid_body: {
    status: 400,
    title: "The body doesn't match the schema.",
    remedy: 'Fix each field listed in `errors`: it is missing, unknown or of the wrong type.',
  },
  invalid_parameter: {
    status: 400,
    title: 'A query parameter is invalid.',
    remedy: 'Fix each parameter listed in `errors`. It is unknown, repeated or out of range.',
  },
  idempotency_key_invalid: {
    status: 400,
    title: "The idempotency key isn't valid.",
    remedy: 'Use 1–255 printable ASCII characters. A UUID works well.',
  },
  invalid_cursor: {
    status: 400,
    title: "The cursor doesn't match this request.",
    remedy:
      'Pass `meta.endCursor` unchanged as `after_cursor`, with the same list, filters and service. To start over, leave it out.',
  },
  invalid_timestamp: {
    status: 400,
    title: "A timestamp isn't valid.",
    remedy:
      'Use RFC 3339 with `Z` or an offset (encode `+` as `%2B`), or `YYYY-MM-DD`, `YYYY-MM-DDTHH:MM` or `YYYY-MM-DDTHH:MM:SS` in the service time zone.',
  },
  duplicate_header: {
    status: 400,
    title: 'A header was sent more than once.',
    remedy: 'Send `Authorization`, `X-Service-Name` and the other single-value headers once.',
  },
  service_name_required: {
    status: 400,
    title: 'The `X-Service-Name` header is missing.',
    remedy: 'Send the service name that came with your account.',
  },
  invalid_credentials: {
    status: 401,
    title: 'The username or password is wrong.',
    remedy: 'Send `Authorization: Basic` with your API key. If you lost the password, ask an admin to rotate it.',
  },
  second_factor_required: {
    status: 401,
    title: 'The account has a second factor.',
    remedy: 'In the console, enter the code of your authenticator app or a recovery code. In programs, use an API key.',
  },
  session_ended: { status: 401, title: 'Your console session has expired.', remedy: 'Sign in again at `/console`.' },
  cross_origin_request: {
    status: 403,
    title: 'Cross-origin requests are not allowed.',
    remedy: 'Console sessions work only from the console. In programs, use `Authorization: Basic`.',
  },
  https_required: {
    status: 403,
    title: 'HTTPS is required.',
    remedy: 'Use `https://`. If you sent a password over HTTP, rotate it.',
  },
  service_not_assigned: {
    status: 403,
    title: "Your account can't access this service.",
    remedy: 'Check the exact spelling of `X-Service-Name`, or ask an admin for access.',
  },
  insufficient_role: {
    status: 403,
    title: "Your account's role doesn't allow this.",
    remedy: 'Use an account with the role named in `detail`.',
  },
  insufficient_scope: {
    status: 403,
    title: "Your API key doesn't allow this.",
    remedy: 'Use a key with the scope that `detail` names, or one for the stores of the request.',
  },
  sign_in_failed: {
    status: 403,
    title: 'The sign-in with the identity provider failed.',
    remedy: 'Start again at `/console`. Without the identity provider, use a password or `tillbridge console`.',
  },
  voucher_not_accepted: {
    status: 403,
    title: 'The voucher number or PIN is wrong.',
    remedy:
      "Check both with the shopper. After several wrong PINs the voucher is blocked for a while, even for the right PIN. The response doesn't say which applies.",
  },
  validation_id_incorrect: {
    status: 403,
    title: 'The validation ID is wrong, expired or already used.',
    remedy: 'Validate or lock the voucher again and use the new `validationId` within 24 hours.',
  },
  not_found: {
    status: 404,
    title: 'The record was not found.',
    remedy: 'Check the path and ID. IDs are specific to a service.',
  },
  method_not_allowed: {
    status: 405,
    title: "This path doesn't support this method.",
    remedy: 'See the `Allow` header for supported methods.',
  },
  not_acceptable: {
    status: 406,
    title: 'The requested media type is not available.',
    remedy: 'Send `Accept: application/json`, `application/x-ndjson` for exports or `text/event-stream` for streams.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive.',
    remedy: 'Send headers within 15 s and the whole request within 30 s.',
  },
  email_taken: {
    status: 409,
    title: 'Another customer has this email address.',
    remedy: 'Find that customer with `GET /customers?email=`.',
  },
  sku_taken: {
    status: 409,
    title: 'Another SKU already uses this code.',
    remedy: 'Find it with `GET /products?sku=` and change that one first.',
  },
  username_taken: {
    status: 409,
    title: 'This username is taken.',
    remedy: 'Choose another username. Usernames are unique across the installation, also among names that look alike.',
  },
  key_name_taken: {
    status: 409,
    title: 'The account has a key with this name.',
    remedy: 'Choose another name, or revoke the other key first.',
  },
  account_managed_by_provider: {
    status: 409,
    title: 'The identity provider manages this account.',
    remedy: "Change the person's groups at the identity provider. Create other accounts for programs.",
  },
  last_admin: {
    status: 409,
    title: 'A service needs at least one admin.',
    remedy: 'Give another account the `admin` role first.',
  },
  order_number_taken: {
    status: 409,
    title: 'This order or return number is already used.',
    remedy: 'Send a different `orderNumber` or `returnNumber`, or omit it to get one assigned.',
  },
  voucher_locked: {
    status: 409,
    title: 'The voucher is locked by another sale.',
    remedy:
      'Try again after `lockedUntil`, or when that sale releases it. If the lock is yours and its `validationId` is lost, an admin unlocks the voucher: `tillbridge voucher unlock`.',
  },
  reservation_expired: {
    status: 409,
    title: 'The reservation has expired.',
    remedy:
      'Reserve the stock again, or order without `reservationId`. The reservation can also have been released or used.',
  },
  coupon_locked: {
    status: 409,
    title: 'Another sale has reserved the coupon.',
    remedy: 'Release that reservation, or wait until it ends after 24 hours.',
  },
  quote_expired: {
    status: 409,
    title: 'The quote has expired.',
    remedy: 'Request a new quote with `POST /orders/quote`, and show the shopper its total.',
  },
  voucher_not_configured: {
    status: 409,
    title: 'Gift vouchers are not set up.',
    remedy: 'Configure the settings listed in `errors`, in Tillbridge and in the back office.',
  },
  mapping_changed: {
    status: 409,
    title: 'The mapping has changed since you read it.',
    remedy: 'Read it again, then update it.',
  },
  invalid_transition: {
    status: 409,
    title: "The status doesn't allow this.",
    remedy: 'See `detail` for the current status and the possible actions.',
  },
  quantity_exceeds_returnable: {
    status: 409,
    title: 'You are returning more than was sold.',
    remedy: 'See `errors` or `GET /orders/{id}/returnable` for the remaining quantities.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'A request with this idempotency key is still running.',
    remedy: 'Wait for `Retry-After` seconds, then retry the same request.',
  },
  concurrent_update: {
    status: 409,
    title: 'Another request is updating these records.',
    remedy: 'Nothing was changed. Retry the request.',
  },
  capability_unavailable: {
    status: 409,
    title: "The back office doesn't support this.",
    remedy: 'See `GET /capabilities` for the reason.',
  },
  cursor_expired: {
    status: 410,
    title: 'The cursor has expired.',
    remedy: 'Start over without a cursor. You will receive the current state of all records.',
  },
  precondition_failed: {
    status: 412,
    title: 'The record has changed since you read it.',
    remedy: 'Read it again and reapply your change.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large.',
    remedy: 'Send at most 256 KiB, or 256 MiB for an import.',
  },
  uri_too_long: { status: 414, title: 'The URL is too long.', remedy: 'Use at most 8 KiB.' },
  unsupported_media_type: {
    status: 415,
    title: "The content type isn't supported.",
    remedy: 'Send `Content-Type: application/json` in UTF-8, without `Content-Encoding`.',
  },
  expectation_failed: {
    status: 417,
    title: "The `Expect` header isn't supported.",
    remedy: 'Remove it, or send `Expect: 100-continue`.',
  },
  invalid_field: { status: 422, title: 'A field value is invalid.', remedy: 'Fix each field listed in `errors`.' },
  sku_not_on_order: {
    status: 422,
    title: "A returned SKU isn't on this order.",
    remedy: 'Return only SKUs from the order. `errors` lists the others.',
  },
  unknown_sku: {
    status: 422,
    title: "The SKU doesn't exist.",
    remedy: 'Use a SKU from `GET /products`. `errors` lists the unknown ones.',
  },
  url_not_allowed: {
    status: 422,
    title: "This webhook URL isn't allowed.",
    remedy: 'Use a public `https` URL without a username or password. For your own machine, use `tillbridge listen`.',
  },
  unknown_gateway: {
    status: 422,
    title: "The payment gateway doesn't exist.",
    remedy: 'Use a name from `GET /payment-gateways`.',
  },
  payment_total_mismatch: {
    status: 422,
    title: "Payments don't add up to the amount due.",
    remedy: 'Send payments that total the amount in `detail`.',
  },
  voucher_must_be_used_in_full: {
    status: 422,
    title: "This voucher can't be partly redeemed.",
    remedy: 'Pay with its full `availableAmount`.',
  },
  coupon_unusable: {
    status: 422,
    title: "The coupon can't be used.",
    remedy: 'See `detail` for the reason. Ask the shopper for another coupon.',
  },
  voucher_unusable: {
    status: 422,
    title: "The voucher can't be used.",
    remedy: 'See `reason`: `redeemed`, `expired`, `suspended` or `not issued`.',
  },
  insufficient_voucher_balance: {
    status: 422,
    title: 'The voucher balance is too low.',
    remedy: 'Pay at most its `availableAmount`.',
  },
  insufficient_rewards: {
    status: 422,
    title: 'The reward account has too little.',
    remedy: 'Redeem at most the amount in `detail`. Pending redemptions count as used.',
  },
  insufficient_stock: {
    status: 422,
    title: 'The stock is too low.',
    remedy: 'Order at most the `available` units of each line in `errors`.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'This idempotency key was used for a different request.',
    remedy: 'Use a new key for a new request. When you retry, send exactly the same request.',
  },
  date_range_inverted: {
    status: 422,
    title: 'The date range ends before it starts.',
    remedy: 'Make the start of the range earlier than its end: `updated_after` earlier than `updated_before`.',
  },
  precondition_required: {
    status: 428,
    title: 'This service requires `If-Match`.',
    remedy: 'Read the record and send its `ETag` in `If-Match`.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests.',
    remedy: 'Wait for `Retry-After` seconds. The `RateLimit` header shows what is left.',
  },
  too_many_streams: { status: 429, title: 'Too many open streams.', remedy: 'Close one. An account can have ten.' },
  too_many_imports: {
    status: 429,
    title: 'Too many imports are running.',
    remedy: 'Wait until one finishes (`GET /imports/{id}`), then try again.',
  },
  too_many_exports: {
    status: 429,
    title: 'Too many exports are running.',
    remedy: 'Wait until one finishes, or cancel it. An account can run four.',
  },
  too_many_failures: { status: 429, title: 'Too many failed attempts.', remedy: 'Wait for `Retry-After` seconds.' },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large.',
    remedy: 'Send at most 100 headers, 16 KiB in total.',
  },
  internal_error: {
    status: 500,
    title: 'Something went wrong on our side.',
    remedy: 'Try again. If it persists, contact support with the `requestId`.',
  },
  back_office_error: {
    status: 502,
    title: 'The back office returned an invalid response.',
    remedy: 'Nothing was saved in Tillbridge. If it persists, contact support with the `requestId`.',
  },
  back_office_unavailable: {
    status: 503,
    title: 'The back office is unavailable.',
    remedy: 'Wait for `Retry-After` seconds, then try again.',
  },
  identity_provider_unavailable: {
    status: 503,
    title: 'The identity provider is unavailable.',
    remedy: 'Try again later. Until then, sign in with a password or `tillbridge console`.',
  },
  service_unavailable: {
    status: 503,
    title: 'Tillbridge is temporarily unavailable.',
    remedy: 'Wait for `Retry-After` seconds, then try again.',
  },
  outcome_unknown: {
    status: 504,
    title: "We don't know yet whether this succeeded.",
    remedy: 'Retry with the same `Idempotency-Key`. The request takes effect only once.',
  },
} as const satisfies Record<string, ErrorDefinition>

export type ErrorCode = keyof typeof errorCodes

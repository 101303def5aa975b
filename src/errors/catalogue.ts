/** Every error a caller can meet: status, title, and what to do about it (contract 1.1). The OpenAPI document and the error pages are made from this. */
export const catalogue = {
  malformed_request: [400, 'This is not well-formed HTTP.', 'Send a request as RFC 9112 has it.'],
  malformed_json: [
    400,
    'The body is not JSON that can be taken.',
    'Send UTF-8 and JSON as RFC 8259 has it: no name twice in an object, at most 32 levels, no number that would be rounded.',
  ],
  invalid_body: [
    400,
    'The body does not have the shape that is documented.',
    'Look at `errors`: each entry points to a field that is missing, unknown or of another type.',
  ],
  invalid_parameter: [
    400,
    'A parameter is unknown, repeated or has a value that it cannot have.',
    'Look at `errors`: each entry names the parameter and what it accepts.',
  ],
  idempotency_key_invalid: [
    400,
    'The Idempotency-Key cannot be taken.',
    'Send 1 to 255 printable ASCII characters, quoted or bare; a UUID is a good one.',
  ],
  invalid_cursor: [
    400,
    'The cursor does not belong to this list.',
    'Send `after_cursor` exactly as `meta.endCursor` gave it, with the same filters, to the same list and service. To start anew, leave it out.',
  ],
  invalid_timestamp: [
    400,
    'A time cannot be read.',
    'Use `YYYY-MM-DDTHH:MM:SS`, the same with a space, `YYYY-MM-DDTHH:MM` or `YYYY-MM-DD` in the time zone of the service, or RFC 3339 with `Z` or an offset (`+` is `%2B` in a URL).',
  ],
  duplicate_header: [
    400,
    'A header that may be sent once was sent twice.',
    'Send one `Authorization` and one `X-Service-Name` header.',
  ],
  service_name_required: [
    400,
    'The X-Service-Name header is missing.',
    'Send `X-Service-Name` with the name of the service that your account was given.',
  ],
  invalid_credentials: [
    401,
    'The username or the password is wrong or missing.',
    'Send `Authorization: Basic` with the base64 of `username:password`. A lost password cannot be shown again: have it rotated.',
  ],
  session_ended: [
    401,
    'The session of the console has ended.',
    'Sign in again at `/console`, or by the link that `tillbridge console` prints.',
  ],
  foreign_page: [
    403,
    'A page of another origin cannot use a session of the console.',
    'Send the request from the console itself. Programs send `Authorization: Basic` instead of a cookie.',
  ],
  https_required: [
    403,
    'Only HTTPS is accepted.',
    'Use `https://`. A password that was sent in the clear should be rotated.',
  ],
  service_not_assigned: [
    403,
    'The account may not use this service.',
    'Check the value of `X-Service-Name`, letter by letter; or have the service assigned to the account.',
  ],
  insufficient_role: [403, 'The role of the account is too low.', 'Use an account with the role that `detail` names.'],
  voucher_not_accepted: [
    403,
    'The number and the PIN do not open a voucher.',
    'Check both with the shopper. After several wrong PINs a voucher refuses for a while, the right one too; which of these it is, is not told.',
  ],
  validation_id_incorrect: [
    403,
    'The validation does not open this voucher.',
    'Validate the voucher with number and PIN, and use the newest `validationId` within 24 hours.',
  ],
  not_found: [404, 'There is no such record.', 'Check the path and the identifier; identifiers belong to one service.'],
  method_not_allowed: [
    405,
    'The path does not know this method.',
    'The `Allow` header lists the methods that it knows.',
  ],
  not_acceptable: [
    406,
    'Answers are JSON, streams are events.',
    'Send `Accept: application/json`, for a stream `Accept: text/event-stream`, or no `Accept` header.',
  ],
  request_timeout: [
    408,
    'The request took too long to arrive.',
    'Send the headers within 15 seconds and all of the request within 30.',
  ],
  email_taken: [409, 'Another customer has this e-mail address.', 'Find that customer with `GET /customers?email=`.'],
  sku_taken: [409, 'Another SKU goes by this name.', 'Find it with `GET /products?sku=`, and rename that one first.'],
  username_taken: [409, 'The username is taken.', 'Choose another one.'],
  last_admin: [409, 'The service would have no admin left.', 'Make another account an `admin` first.'],
  order_number_taken: [409, 'Another order has this number.', 'Send another `orderNumber`, or leave it out.'],
  voucher_locked: [
    409,
    'Another sale holds the voucher.',
    'Wait until `lockedUntil`, or until that sale gives it back.',
  ],
  voucher_not_configured: [
    409,
    'Gift vouchers cannot be made yet.',
    'Have the settings that `errors` names set for the service, and in the back office.',
  ],
  mapping_changed: [409, 'The mapping was changed meanwhile.', 'Look at it, and say with PUT what it is now.'],
  quantity_exceeds_returnable: [
    409,
    'More would be returned than was sold.',
    'Look at `errors` for what is left of each line, or at `GET /orders/:id/returnable`.',
  ],
  idempotency_in_progress: [
    409,
    'A request with this Idempotency-Key is still running.',
    'Wait for the seconds that `Retry-After` says, then repeat the request as it was.',
  ],
  concurrent_update: [409, 'Others were changing the same records.', 'Nothing was done; repeat the request.'],
  capability_unavailable: [
    409,
    'The back office cannot do this.',
    'See `GET /capabilities`; without `Prefer: handling=strict` the answer is empty, with a warning.',
  ],
  cursor_expired: [
    410,
    'The cursor is too old.',
    'What has left the data since then may be forgotten, or the service was restored from a backup. Leave the cursor out: that begins anew, with everything as it stands.',
  ],
  precondition_failed: [
    412,
    'The record is no longer the one that `If-Match` names.',
    'Read it again, and decide anew what to change.',
  ],
  body_too_large: [413, 'The body is too large.', 'A body has at most 256 KiB.'],
  uri_too_long: [414, 'The URL is too long.', 'A URL has at most 8 KiB.'],
  unsupported_media_type: [
    415,
    'The body is not plain JSON.',
    'Send `Content-Type: application/json`, in UTF-8, without `Content-Encoding`.',
  ],
  expectation_failed: [
    417,
    'An `Expect` header asks for something unknown.',
    'Leave the header out, or send `Expect: 100-continue`.',
  ],
  invalid_field: [
    422,
    'A field has a value that it cannot have.',
    'Look at `errors`: each entry points to a field and says what it accepts.',
  ],
  sku_not_on_order: [
    422,
    'A returned SKU is not on the original order.',
    'Return what was ordered; `errors` names each SKU that was not.',
  ],
  unknown_sku: [
    422,
    'There is no such SKU.',
    'Send SKUs as `GET /products` has them; `errors` names each that it does not have.',
  ],
  url_not_allowed: [
    422,
    'Webhooks are not delivered to this URL.',
    'Send an `https` URL whose host has public addresses only, without a username and a password.',
  ],
  unknown_gateway: [422, 'There is no such payment gateway.', 'Send a name that `GET /payment-gateways` lists.'],
  payment_total_mismatch: [
    422,
    'The payments are not what is due.',
    'Send payments whose sum is the amount that `detail` names.',
  ],
  voucher_must_be_used_in_full: [422, 'The voucher can only be used in full.', 'Pay with all that is available of it.'],
  voucher_unusable: [
    422,
    'The voucher cannot be used.',
    '`reason` says why: it is redeemed, expired, suspended or not issued yet.',
  ],
  insufficient_voucher_balance: [
    422,
    'The voucher has less than that.',
    'Pay with no more than its `availableAmount`.',
  ],
  idempotency_key_reused: [
    422,
    'The Idempotency-Key was used for another request.',
    'Use a new key for a new request; repeat a request exactly as it was.',
  ],
  date_range_inverted: [
    422,
    'The range of time ends before it begins.',
    'Send an `updated_after` that is earlier than `updated_before`.',
  ],
  precondition_required: [
    428,
    'This service wants `If-Match` with every change.',
    'Read the record, and send its `ETag` in `If-Match`.',
  ],
  rate_limited: [
    429,
    'There were too many requests.',
    'Wait for the seconds that `Retry-After` says. `RateLimit` tells what is left.',
  ],
  too_many_streams: [
    429,
    'The account has as many streams open as it may.',
    'Close one of the ten, or let several share it.',
  ],
  too_many_imports: [
    429,
    'As many files are being taken in as may be at a time.',
    'Wait until one of them is in, `GET /imports/:id` tells, and send the file again.',
  ],
  too_many_whole_lists: [
    429,
    'The account is being told as many whole lists as it may.',
    'Take what is being told to its end, or close it, and ask again then: four at a time.',
  ],
  too_many_failures: [429, 'There were too many failed attempts.', 'Wait for the seconds that `Retry-After` says.'],
  headers_too_large: [431, 'The headers are too large.', 'At most 100 headers, 16 KiB in all.'],
  internal_error: [500, 'Something unexpected went wrong.', 'Try again; if it stays, report the `requestId`.'],
  back_office_error: [
    502,
    'The back office answered with something unexpected.',
    'Nothing was done here; if it stays, report the `requestId`.',
  ],
  back_office_unavailable: [
    503,
    'The back office cannot be reached.',
    'Wait for the seconds that `Retry-After` says, then try again.',
  ],
  service_unavailable: [
    503,
    'The service itself cannot answer at the moment.',
    'It has lost its database, has no room to write, or has too much to do. Wait for the seconds that `Retry-After` says, then try again.',
  ],
  outcome_unknown: [
    504,
    'It is not known whether this was done.',
    'Repeat the request with the same Idempotency-Key: it is done once, whatever happened.',
  ],
} as const satisfies Record<string, readonly [status: number, title: string, remedy: string]>

export type ErrorCode = keyof typeof catalogue

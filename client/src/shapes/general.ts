// Made of the operations of the API by `npm run docs`.

/** One of these words, or one that a later release has. */
export type Open<Word extends string> = Word | (string & {})

/** An error (RFC 9457). */
export interface Problem {
  /** The page about this error. */
  type: string
  /** The error in a sentence. */
  title: string
  /** The HTTP status. */
  status: number
  code: ErrorCode
  /** What it is in this request. Absent for an unexpected fault. */
  detail?: string
  /** The path that was asked for. */
  instance?: string
  /** The identifier of the request. */
  requestId: string
  /** Until when the voucher is held (`voucher_locked`). */
  lockedUntil?: string
  /** Why the voucher cannot be used (`voucher_unusable`). */
  reason?: Open<'redeemed' | 'expired' | 'suspended' | 'not issued'>
  /** Every fault of the request. */
  errors?: Fault[]
}

/** What went wrong, for programs; each has a page under `type`. */
export type ErrorCode = Open<'malformed_request' | 'malformed_json' | 'invalid_body' | 'invalid_parameter' | 'idempotency_key_invalid' | 'invalid_cursor' | 'invalid_timestamp' | 'duplicate_header' | 'service_name_required' | 'invalid_credentials' | 'session_ended' | 'cross_origin_request' | 'https_required' | 'service_not_assigned' | 'insufficient_role' | 'voucher_not_accepted' | 'validation_id_incorrect' | 'not_found' | 'method_not_allowed' | 'not_acceptable' | 'request_timeout' | 'email_taken' | 'sku_taken' | 'username_taken' | 'last_admin' | 'order_number_taken' | 'voucher_locked' | 'voucher_not_configured' | 'mapping_changed' | 'quantity_exceeds_returnable' | 'idempotency_in_progress' | 'concurrent_update' | 'capability_unavailable' | 'cursor_expired' | 'precondition_failed' | 'body_too_large' | 'uri_too_long' | 'unsupported_media_type' | 'expectation_failed' | 'invalid_field' | 'sku_not_on_order' | 'unknown_sku' | 'url_not_allowed' | 'unknown_gateway' | 'payment_total_mismatch' | 'voucher_must_be_used_in_full' | 'voucher_unusable' | 'insufficient_voucher_balance' | 'idempotency_key_reused' | 'date_range_inverted' | 'precondition_required' | 'rate_limited' | 'too_many_streams' | 'too_many_imports' | 'too_many_exports' | 'too_many_failures' | 'headers_too_large' | 'internal_error' | 'back_office_error' | 'back_office_unavailable' | 'service_unavailable' | 'outcome_unknown'>

export interface Fault {
  /** The query parameter. */
  parameter?: string
  /** The place in the body (RFC 6901). */
  pointer?: string
  code: ErrorCode
  /** What is wrong there. */
  detail: string
}

export interface ListMeta {
  /** Whether more records follow. */
  hasNextPage: boolean
  /** Where this page ends: the `after_cursor` of the next; null for an empty list. */
  endCursor: string | null
  /** The moment up to which this walk shows changes, with `updated_before` no later than that: the next poll is `updated_after=<asOf>`. */
  asOf: string
  /** The zone of the wall-clock times in the records. */
  timeZone: string
  /** When the list was last brought up to date with a back office that is pulled from, a few seconds late. Absent where it is always up to date, and where it never was. */
  syncedAt?: string
  warnings?: Warning[]
}

export interface Warning {
  code: string
  detail: string
}

// Generated from the OpenAPI document by `npm run docs`.

/** One of these values, or one that a later release adds. */
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
  /** The error in this request. Absent for an unexpected error. */
  detail?: string
  /** The path of the request. */
  instance?: string
  /** The identifier of the request. */
  requestId: string
  /** When the lock of the voucher expires (`voucher_locked`). */
  lockedUntil?: string
  /** The reason why the voucher can't be used (`voucher_unusable`). */
  reason?: Open<'redeemed' | 'expired' | 'suspended' | 'not issued'>
  /** All field errors of the request. */
  errors?: FieldError[]
}

/** The error code, for programs. `type` is the page about it. */
export type ErrorCode = Open<'malformed_request' | 'malformed_json' | 'invalid_body' | 'invalid_parameter' | 'idempotency_key_invalid' | 'invalid_cursor' | 'invalid_timestamp' | 'duplicate_header' | 'service_name_required' | 'invalid_credentials' | 'second_factor_required' | 'session_ended' | 'cross_origin_request' | 'https_required' | 'service_not_assigned' | 'insufficient_role' | 'insufficient_scope' | 'sign_in_failed' | 'voucher_not_accepted' | 'validation_id_incorrect' | 'not_found' | 'method_not_allowed' | 'not_acceptable' | 'request_timeout' | 'email_taken' | 'sku_taken' | 'username_taken' | 'key_name_taken' | 'account_managed_by_provider' | 'last_admin' | 'order_number_taken' | 'voucher_locked' | 'reservation_expired' | 'coupon_locked' | 'quote_expired' | 'voucher_not_configured' | 'mapping_changed' | 'invalid_transition' | 'quantity_exceeds_returnable' | 'idempotency_in_progress' | 'concurrent_update' | 'capability_unavailable' | 'cursor_expired' | 'precondition_failed' | 'body_too_large' | 'uri_too_long' | 'unsupported_media_type' | 'expectation_failed' | 'invalid_field' | 'sku_not_on_order' | 'unknown_sku' | 'url_not_allowed' | 'unknown_gateway' | 'payment_total_mismatch' | 'voucher_must_be_used_in_full' | 'coupon_unusable' | 'voucher_unusable' | 'insufficient_voucher_balance' | 'insufficient_rewards' | 'insufficient_stock' | 'idempotency_key_reused' | 'date_range_inverted' | 'precondition_required' | 'rate_limited' | 'too_many_streams' | 'too_many_imports' | 'too_many_exports' | 'too_many_failures' | 'headers_too_large' | 'internal_error' | 'back_office_error' | 'back_office_unavailable' | 'identity_provider_unavailable' | 'service_unavailable' | 'outcome_unknown'>

export interface FieldError {
  /** The query parameter. */
  parameter?: string
  /** The place in the body (RFC 6901). */
  pointer?: string
  code: ErrorCode
  /** The error and the requirement. */
  detail: string
  /** The units that can be sold (`insufficient_stock`). */
  available?: number
  /** The ordered units (`insufficient_stock`). */
  requested?: number
}

export interface ListMeta {
  /** True if there are more records. */
  hasNextPage: boolean
  /** The `after_cursor` of the next page. Null for an empty list. */
  endCursor: string | null
  /** The instant up to which the list contains all changes, at most `updated_before`. To poll for later changes, send it as `updated_after`. */
  asOf: string
  /** The time zone of the local times in the records. */
  timeZone: string
  /** When the list was last synced with the back office, a few seconds late. Absent if the list needs no sync or has never been synced. */
  syncedAt?: string
  warnings?: Warning[]
}

export interface Warning {
  code: string
  detail: string
}

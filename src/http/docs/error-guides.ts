import type { ErrorCode } from '../../errors/api-error.ts'

/** The guides of the documentation with the errors that they explain. `generalGuide` explains all other errors. */
const guides: readonly { path: string; title: string; codes: readonly ErrorCode[] }[] = [
  {
    path: 'shop/authentication',
    title: 'Authenticate',
    codes: [
      'service_name_required',
      'invalid_credentials',
      'second_factor_required',
      'session_ended',
      'cross_origin_request',
      'https_required',
      'service_not_assigned',
      'insufficient_role',
      'insufficient_scope',
      'too_many_failures',
      'duplicate_header',
    ],
  },
  {
    path: 'shop/gift-vouchers',
    title: 'Work with gift vouchers',
    codes: [
      'voucher_not_accepted',
      'validation_id_incorrect',
      'voucher_locked',
      'voucher_not_configured',
      'voucher_must_be_used_in_full',
      'voucher_unusable',
      'insufficient_voucher_balance',
    ],
  },
  {
    path: 'shop/checkout',
    title: 'Check out with a gift voucher',
    codes: [
      'order_number_taken',
      'reservation_expired',
      'quote_expired',
      'coupon_locked',
      'coupon_unusable',
      'unknown_sku',
      'unknown_gateway',
      'payment_total_mismatch',
      'insufficient_stock',
      'outcome_unknown',
    ],
  },
  {
    path: 'shop/orders-and-returns',
    title: 'Show orders and create returns',
    codes: ['quantity_exceeds_returnable', 'sku_not_on_order', 'invalid_transition'],
  },
  { path: 'shop/rewards', title: 'Show and redeem reward points', codes: ['insufficient_rewards'] },
  { path: 'shop/customers-and-consent', title: 'Create customers and record consent', codes: ['email_taken'] },
  {
    path: 'shop/keep-in-sync',
    title: 'Keep in sync',
    codes: ['cursor_expired', 'invalid_cursor', 'invalid_timestamp', 'date_range_inverted', 'too_many_streams'],
  },
  { path: 'shop/receive-webhooks', title: 'Receive webhooks', codes: ['url_not_allowed'] },
  { path: 'shop/bulk-export', title: 'Export a complete list', codes: ['too_many_exports'] },
  { path: 'connect/import-files', title: 'Import files', codes: ['too_many_imports'] },
  {
    path: 'connect/map-ecommerce',
    title: 'Map records to the e-commerce platform',
    codes: ['sku_taken', 'mapping_changed'],
  },
  {
    path: 'operate/services-and-accounts',
    title: 'Manage services and accounts',
    codes: ['username_taken', 'key_name_taken', 'last_admin'],
  },
  {
    path: 'operate/sign-in',
    title: 'Sign in with your identity provider',
    codes: ['sign_in_failed', 'identity_provider_unavailable', 'account_managed_by_provider'],
  },
  {
    path: 'reference/limits',
    title: 'Limits',
    codes: ['body_too_large', 'uri_too_long', 'headers_too_large', 'rate_limited'],
  },
]

const generalGuide = { path: 'shop/errors-and-retries', title: 'Handle errors and retries' }

/** Returns the guide that explains an error: its address below `/docs/` and its title. */
export const findErrorGuide = (code: ErrorCode): { path: string; title: string } =>
  guides.find(({ codes }) => codes.includes(code)) ?? generalGuide

import { formatDuration } from 'tillbridge/health'
import { remedies } from 'tillbridge/remedies'
import { t } from './text.js'

/** The remedies for people, by error code. The remedies of the error catalogue are for programs. @type {Record<string, string>} */
const consoleRemedies = {
  invalid_body: t('Correct the values that are named above.'),
  invalid_parameter: t('Correct the filters or the address.'),
  invalid_field: t('Correct the values that are named above.'),
  invalid_credentials: t('If you lost the password, ask an admin to rotate it.'),
  second_factor_required: t('Enter the code of your authenticator app, or a recovery code.'),
  session_ended: t('Sign in to continue.'),
  service_not_assigned: t('Ask an admin of the service for access.'),
  insufficient_role: t('Ask an admin for the role that is named above.'),
  not_found: t('It may have been deleted, or its number belongs to another service.'),
  email_taken: t('Search for the address to find that customer.'),
  sku_taken: t('Search for the SKU to find its product.'),
  order_number_taken: t('Choose another number.'),
  voucher_locked: t('Wait until the other sale ends, or ask an admin to unlock the voucher.'),
  voucher_not_configured: t('Set them up in the settings.'),
  mapping_changed: t('Close this and open the record again to see its current mapping.'),
  invalid_transition: t('Reload the screen to see the current state.'),
  quantity_exceeds_returnable: t('Reload the order to see how many units can be returned.'),
  idempotency_in_progress: t('Wait until the first attempt ends, then look at the record before you try again.'),
  concurrent_update: t('Nothing was changed. Try again.'),
  capability_unavailable: t('The settings list what the back office supports.'),
  precondition_failed: t('Close this and open the record again to see its current values.'),
  body_too_large: t('Send less at once. A file can have 256 MB.'),
  unknown_sku: t('Check the spelling of the SKU.'),
  date_range_inverted: t('Choose a start before the end.'),
  rate_limited: t('Wait a moment, then try again.'),
  too_many_failures: t('Wait a moment, then try again.'),
  too_many_imports: t('Wait until one of them ends, then try again.'),
  internal_error: t('Try again. If it fails again, send the number of the request to support.'),
  back_office_error: t('Nothing was changed. If it fails again, send the number of the request to support.'),
  back_office_unavailable: t('Wait a moment, then try again.'),
  service_unavailable: t('Wait a moment, then try again.'),
  outcome_unknown: t('Reload the record to see whether it was changed, before you try again.'),
}

/** Codes that end by waiting. */
const temporary = ['rate_limited', 'too_many_failures', 'back_office_unavailable', 'service_unavailable']

/** True if the error catalogue has a page for this code. @param {string} code */
export const isCatalogued = code => Object.hasOwn(remedies, code)

/** Returns the remedy of an error for a person, or else the catalogue's. @param {string} code @param {number} [retryAfterSeconds] of the response */
export const getRemedy = (code, retryAfterSeconds) =>
  retryAfterSeconds && temporary.includes(code)
    ? t('Try again in {duration}.', { duration: formatDuration(retryAfterSeconds) })
    : (consoleRemedies[code] ?? remedies[code])

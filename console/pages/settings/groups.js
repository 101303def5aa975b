import { t } from '../../lib/text.js'

/** The settings in groups, in the order of the page. A setting without a group is in the last one. @type {[title: string, names: string[]][]} */
const groups = [
  [t('General'), ['retailerName', 'timeZone', 'currency']],
  [t('Stock'), ['inventoryBuffer', 'allocated', 'oversell']],
  [t('Orders and returns'), ['fulfilment', 'returnReasons', 'defaultReturnReason']],
  [
    t('Gift vouchers'),
    [
      'vouchersEnabled',
      'giftCardSku',
      'voucherType',
      'voucherValidityMonths',
      'voucherGateway',
      'requireFullRedemption',
    ],
  ],
  [t('Email and alerts'), ['emailSender', 'supportEmail', 'shopUrl', 'logoUrl', 'brandColour', 'alertEmail']],
  [t('Loyalty and consent'), ['subscriptionMapping', 'referenceTypes']],
  [
    t('API limits and logs'),
    [
      ...['readsPerMinute', 'writesPerMinute', 'requireIfMatch', 'requireIdempotencyKey'],
      ...['requestLogRetentionDays', 'tombstoneRetentionDays'],
    ],
  ],
]

/** Returns the groups with the names of all settings. @param {string[]} names @returns {[title: string, names: string[]][]} */
export function groupSettings(names) {
  const grouped = new Set(groups.flatMap(([, members]) => members))
  const others = names.filter(name => !grouped.has(name))
  /** @type {[string, string[]][]} */
  const all = [...groups, [t('Back office'), others]]
  return all.map(([title, members]) => [title, members.filter(name => names.includes(name))])
}

/** The title of each setting. @type {Record<string, string>} */
const titles = {
  retailerName: t('Retailer name'),
  timeZone: t('Time zone'),
  currency: t('Currency'),
  inventoryBuffer: t('Inventory buffer'),
  fulfilment: t('Fulfilment'),
  returnReasons: t('Return reasons'),
  defaultReturnReason: t('Default return reason'),
  voucherType: t('Voucher type'),
  voucherValidityMonths: t('Voucher validity months'),
  voucherGateway: t('Voucher gateway'),
  requireFullRedemption: t('Require full redemption'),
  emailSender: t('Email sender'),
  brandColour: t('Brand colour'),
  supportEmail: t('Support email'),
  alertEmail: t('Alert email'),
  subscriptionMapping: t('Subscription mapping'),
  referenceTypes: t('Reference types'),
  backOfficeVersion: t('Back office version'),
  tombstoneRetentionDays: t('Tombstone retention days'),
  requestLogRetentionDays: t('Request log retention days'),
  readsPerMinute: t('Reads per minute'),
  writesPerMinute: t('Writes per minute'),
  allocated: t('Units of unshipped orders'),
  oversell: t('Orders beyond the stock'),
  vouchersEnabled: t('Gift vouchers'),
  giftCardSku: t('Gift card SKU'),
  logoUrl: t('Logo URL'),
  shopUrl: t('Shop URL'),
  requireIfMatch: t('Require If-Match'),
  requireIdempotencyKey: t('Require Idempotency-Key'),
}

/** Returns the title of a setting, or the words of another field: `addressLine` is "Address line". @param {string} name */
export function getTitle(name) {
  const words = name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
  return titles[name] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

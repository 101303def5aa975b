/** The settings in groups, in the order of the page. A setting without a group is in the last one. @type {[title: string, names: string[]][]} */
const groups = [
  ['General', ['retailerName', 'timeZone', 'currency']],
  ['Stock', ['inventoryBuffer', 'allocated', 'oversell']],
  ['Orders and returns', ['fulfilment', 'returnReasons', 'defaultReturnReason']],
  [
    'Gift vouchers',
    [
      'vouchersEnabled',
      'giftCardSku',
      'voucherType',
      'voucherValidityMonths',
      'voucherGateway',
      'requireFullRedemption',
    ],
  ],
  ['Email and alerts', ['emailSender', 'supportEmail', 'shopUrl', 'logoUrl', 'brandColour', 'alertEmail']],
  ['Loyalty and consent', ['subscriptionMapping', 'referenceTypes']],
  [
    'API limits and logs',
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
  const all = [...groups, ['Back office', others]]
  return all.map(([title, members]) => [title, members.filter(name => names.includes(name))])
}

/** Words that don't follow from the name. @type {Record<string, string>} */
const titles = {
  allocated: 'Units of unshipped orders',
  oversell: 'Orders beyond the stock',
  vouchersEnabled: 'Gift vouchers',
  giftCardSku: 'Gift card SKU',
  logoUrl: 'Logo URL',
  shopUrl: 'Shop URL',
  requireIfMatch: 'Require If-Match',
  requireIdempotencyKey: 'Require Idempotency-Key',
}

/** Returns the title of a setting: `retailerName` is "Retailer name". @param {string} name */
export function getTitle(name) {
  const words = name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
  return titles[name] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

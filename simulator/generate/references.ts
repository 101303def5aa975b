import { emailVoucher, type ReferenceType, rewardReasons } from '../shop/records.ts'

/** Creates a type. `references` are the code and name of each reference by its ID. */
const makeType = (
  id: number,
  code: string,
  name: string,
  recordType: ReferenceType['recordType'],
  references: Record<number, readonly [code: string, name: string]>,
): ReferenceType => ({
  id,
  code,
  name,
  recordType,
  references: new Map(
    Object.entries(references).map(([referenceId, [referenceCode, referenceName]]) => [
      +referenceId,
      { id: +referenceId, code: referenceCode, name: referenceName },
    ]),
  ),
})

/** Creates types with the IDs of a real installation. Types above 1000 were added by its retailer. */
const makeTypes = () => [
  makeType(8, 'CURRENCY', 'Currency', 'other', {
    801: ['AUD', 'Australian Dollar'],
    802: ['NZD', 'New Zealand Dollar'],
  }),
  makeType(27, 'SalesRep', 'Sales Rep', 'person', {
    2701: ['ANA', 'Ana Whitlock'],
    2702: ['BEN', 'Ben Okafor'],
    2703: ['CHLOE', "Chloe D'Souza"],
  }),
  makeType(202, 'Carrier', 'Carrier', 'other', { 20201: ['EMS', 'Express Mail'], 20202: ['AUSPOST', 'Post'] }),
  makeType(257, 'Season', 'Season', 'product', {
    1342: ['S24', 'Summer 24'],
    1343: ['W24', 'Winter 24'],
    1344: ['S25', 'Summer 25 '],
  }),
  makeType(259, 'ServTyp', 'Service Type', 'other', { 25901: ['ROAD', 'Road'], 25902: ['AIR', 'Air'] }),
  makeType(271, 'RetDisc', 'Retail Discount Reasons', 'other', {
    27101: ['MAN', 'Manual'],
    27102: ['DAMAGE', 'Damaged'],
  }),
  makeType(272, 'RetRetrn', 'Retail Return Reasons', 'other', {
    10365: ['FAULTY', 'Faulty'],
    10366: ['SIZE', 'Wrong size'],
    10367: ['MIND', 'Change of mind'],
  }),
  makeType(366, 'Loyalty', 'Loyalty Types', 'other', {
    8561: ['VIP', 'VIP'],
    8562: ['STAFF', 'Staff Discount'],
    8563: ['FRIEND', 'Friends & Family'],
  }),
  makeType(368, 'RetVouch', 'Retail Voucher Types', 'other', {
    36801: [emailVoucher, 'Gift voucher by e-mail'],
    36802: ['GV_CARD', 'Gift card'],
    36803: ['GV_STORE', 'In-store voucher'],
  }),
  makeType(395, 'Privacy', 'Privacy', 'other', {}),
  makeType(417, 'CardType', 'Retail Card Type', 'other', { 41701: ['VISA', 'Visa'], 41702: ['MC', 'Mastercard'] }),
  makeType(426, 'ColrType', 'Colour Type', 'colour', {}),
  makeType(431, 'SPayGate', 'Sales Payment Gateway', 'other', {
    43101: ['SIMPAY', 'Simulated gateway'],
    43102: ['PAYPAL', 'PayPal'],
    43103: ['AFTERPAY', 'Afterpay'],
  }),
  makeType(437, 'LoyStat', 'Loyalty Status', 'other', { 43701: ['ACTIVE', 'Active'], 43702: ['HOLD', 'On hold'] }),
  makeType(1321, 'GENDER', 'Shops for', 'person', { 4411: ['W', 'Women'], 4412: ['M', 'Men'], 4413: ['B', 'Both'] }),
  makeType(1322, 'EMAILOPT', 'E-mail Opt-in', 'person', { 4421: ['Y', 'Yes'], 4422: ['N', 'No'] }),
  makeType(1323, 'SMSOPT', 'SMS Opt-in', 'person', { 4431: ['Y', 'Yes'], 4432: ['N', 'No'] }),
  makeType(1621, 'BRAND', 'Brand', 'product', { 6211: ['OWN', 'Own label'], 6212: ['GUEST', 'Guest label'] }),
  makeType(rewardReasons, 'RewIssue', 'Reward Issue Reasons', 'other', {
    17665: ['BDAY', 'Birthday'],
    17666: ['AUTO', 'Points reached'],
  }),
]

export const makeReferenceTypes = (): Map<number, ReferenceType> =>
  new Map(makeTypes().map(referenceType => [referenceType.id, referenceType]))

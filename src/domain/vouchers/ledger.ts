import { Type } from '../../schemas/schemas.ts'
import { LocalTime, Money, Nullable, OneOf, Text } from '../values/fields.ts'
import { ReceiverEmail } from './emails.ts'
import { voucherActions, voucherStates } from './states.ts'
import { Voucher } from './vouchers.ts'

const LedgerEntry = Type.Object(
  {
    at: LocalTime('The time of the entry.', '2026-11-21 12:00:00'),
    kind: OneOf('The kind of entry.', voucherActions),
    amount: Money('Negative for a redemption. Zero for an entry that moves no money.', '-39.95'),
    state: OneOf('The state of the voucher after the entry.', voucherStates),
    lockedBy: Nullable(Text('The account that locked the voucher.', 'webshop', 100)),
    username: Nullable(Text('The account of the write. Null: an import, or an expiry.', 'webshop', 100)),
    apiKey: Nullable(Text('The API key of the write.', 'till-7', 50)),
    orderNumber: Nullable(Text('The order that redeemed, refunded or sold the voucher.', 'W0000123', 100)),
  },
  { $id: 'VoucherLedgerEntry', additionalProperties: false },
)

/** A voucher with its ledger and emails, for operators. Never contains the PIN. */
export const VoucherLedger = Type.Object(
  {
    voucher: Voucher,
    senderName: Nullable(Text('The buyer, if Tillbridge issued the voucher.', 'John Smith', 200)),
    receiverName: Nullable(Text('The receiver.', 'Ann Lee', 200)),
    receiverEmail: Nullable(Text('The address that number and PIN were sent to.', 'ann.lee@example.com', 250)),
    emails: Type.Array(ReceiverEmail, { description: 'The emails to the receiver, newest first.' }),
    entries: Type.Array(LedgerEntry, { description: 'The ledger, oldest entry first.' }),
  },
  { $id: 'VoucherLedger', additionalProperties: false },
)

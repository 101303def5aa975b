import { Type } from '../../schemas/schemas.ts'
import { LocalTime, Money, Nullable, Text, Words } from '../values/fields.ts'
import { ReceiverEmail } from './emails.ts'
import { voucherStates, voucherSteps } from './states.ts'
import { Voucher } from './vouchers.ts'

const Step = Type.Object(
  {
    at: LocalTime('When it was taken.', '2026-11-21 12:00:00'),
    kind: Words('What happened.', voucherSteps),
    amount: Money('Below zero for what was drawn; zero for a step that moves no money.', '-39.95'),
    state: Words('Where the voucher stood then.', voucherStates),
    heldBy: Nullable(Text('The account that held it from then on.', 'webshop', 100)),
    orderNumber: Nullable(Text('The order that drew on it, gave back, or that it was sold with.', 'W0000123', 100)),
  },
  { $id: 'VoucherStep', additionalProperties: false },
)

/** A voucher with all that has happened to it, for whoever looks after the service. The PIN is no part of it. */
export const VoucherLedger = Type.Object(
  {
    voucher: Voucher,
    senderName: Nullable(Text('Who has bought it, as far as it was issued here.', 'John Smith', 200)),
    receiverName: Nullable(Text('Whom it is for.', 'Ann Lee', 200)),
    receiverEmail: Nullable(Text('Where number and PIN were sent.', 'ann.lee@example.com', 250)),
    emails: Type.Array(ReceiverEmail, { description: 'Those to the receiver, the newest first.' }),
    steps: Type.Array(Step, { description: 'The oldest first.' }),
  },
  { $id: 'VoucherLedger', additionalProperties: false },
)

import { Type } from '../../schemas/schemas.ts'
import { Customer } from '../customers/customers.ts'
import { MappingFix, MappingIssue } from '../mappings/mapping-check.ts'
import { Order } from '../orders/orders.ts'
import { Return } from '../orders/returns.ts'
import { RetailTransaction } from '../orders/transactions.ts'
import { RewardAccount } from '../rewards/rewards.ts'
import { OrderAddress } from '../values/address.ts'
import { Flag, LocalDate, LocalTime, Nullable, Text, Words } from '../values/fields.ts'
import { ReceiverEmail } from '../vouchers/emails.ts'

const ConsentChange = Type.Object(
  {
    at: LocalTime('When it was said.'),
    channel: Words('What it is about; `marketing` is the inverse of `privacy`.', ['marketing', 'email', 'sms']),
    oldValue: Nullable(Flag('The consent before the change. Null for a new customer.')),
    newValue: Flag('The consent after the change.'),
    username: Text('The account that wrote it.', 'webshop'),
    requestId: Text('The request that wrote it.', '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91'),
  },
  { $id: 'ConsentChange', additionalProperties: false },
)

const VoucherSale = Type.Object(
  {
    number: Text('The number of the voucher.', '2062389', 50),
    orderNumber: Nullable(Text('The order that it was sold with.', 'W0000123', 50)),
    senderName: Nullable(Text('Who gives it.', 'John Smith')),
    receiverName: Nullable(Text('Who receives it.', 'Mary Lee')),
    receiverEmail: Nullable(Text('The e-mail address it was sent to.', 'mary.lee@example.com')),
    mobile: Nullable(Text("The receiver's telephone number.", '+61 400 123 456')),
    deliveryDate: Nullable(LocalDate('The day before which the receiver is told nothing.', '2026-12-24')),
    billingAddress: Nullable(Type.Partial(OrderAddress)),
    createdAt: LocalTime('When it was sold.'),
    emails: Type.Array(ReceiverEmail, { description: 'Those to the receiver, the newest first.' }),
  },
  { $id: 'VoucherSale', additionalProperties: false },
)

const EcommerceCopy = Type.Object(
  {
    ecommerceId: Text('The identifier there.', '6477890125896', 100),
    email: Nullable(Text('The e-mail address there.', 'john.smith@example.com')),
  },
  { $id: 'EcommerceCopy', additionalProperties: false },
)

/** Everything that is kept of a person (contract 15). */
export const PersonalData = Type.Object(
  {
    customer: Nullable(Customer),
    consent: Type.Array(ConsentChange, { description: 'What was agreed to, change by change, the oldest first.' }),
    orders: Type.Array(Order, { description: 'The newest first.' }),
    returns: Type.Array(Return),
    transactions: Type.Array(RetailTransaction, { description: 'The newest first.' }),
    rewardAccount: Nullable(RewardAccount),
    vouchers: Type.Array(VoucherSale, {
      description:
        "Vouchers that were sent to the customer's e-mail address, sold with an order of theirs, or sent by somebody of their name and address.",
    }),
    ecommerce: Type.Array(EcommerceCopy, {
      description: 'What the e-commerce platform has told of them (`ecommerce-customers`).',
    }),
    mappingIssues: Type.Array(MappingIssue, { description: 'The mapping issues of the customer.' }),
    mappingFixes: Type.Array(MappingFix, {
      description: 'The mapping fixes of the customer in the last 90 days, oldest first.',
    }),
  },
  { $id: 'PersonalData', additionalProperties: false },
)

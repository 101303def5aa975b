import { Type } from '../../schemas/schemas.ts'
import { Customer } from '../customers/customers.ts'
import { MappingFix, MappingIssue } from '../mappings/mapping-check.ts'
import { Order } from '../orders/orders.ts'
import { Return } from '../orders/returns.ts'
import { RetailTransaction } from '../orders/transactions.ts'
import { RewardAccount } from '../rewards/rewards.ts'
import { OrderAddress } from '../values/address.ts'
import { Flag, LocalDate, LocalTime, Nullable, OneOf, Text } from '../values/fields.ts'
import { ReceiverEmail } from '../vouchers/emails.ts'

const ConsentChange = Type.Object(
  {
    at: LocalTime('When the consent changed.'),
    channel: OneOf('The channel. `marketing` is the inverse of `privacy`.', ['marketing', 'email', 'sms']),
    oldValue: Nullable(Flag('The consent before the change. Null for a new customer.')),
    newValue: Flag('The consent after the change.'),
    username: Text('The account that changed it.', 'webshop'),
    requestId: Text('The request that changed it.', '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91'),
  },
  { $id: 'ConsentChange', additionalProperties: false },
)

const VoucherSale = Type.Object(
  {
    number: Text('The number of the voucher.', '2062389', 50),
    orderNumber: Nullable(Text('The order that sold the voucher.', 'W0000123', 50)),
    senderName: Nullable(Text('The sender of the voucher.', 'John Smith')),
    receiverName: Nullable(Text('The receiver of the voucher.', 'Mary Lee')),
    receiverEmail: Nullable(Text('The email address that the voucher was sent to.', 'mary.lee@example.com')),
    mobile: Nullable(Text("The receiver's telephone number.", '+61 400 123 456')),
    deliveryDate: Nullable(LocalDate('The day on which the email is sent.', '2026-12-24')),
    billingAddress: Nullable(Type.Partial(OrderAddress)),
    createdAt: LocalTime('When the voucher was sold.'),
    emails: Type.Array(ReceiverEmail, { description: 'The emails to the receiver, newest first.' }),
  },
  { $id: 'VoucherSale', additionalProperties: false },
)

const EcommerceCopy = Type.Object(
  {
    ecommerceId: Text('The ID in the e-commerce platform.', '6477890125896', 100),
    email: Nullable(Text('The email address in the e-commerce platform.', 'john.smith@example.com')),
  },
  { $id: 'EcommerceCopy', additionalProperties: false },
)

/** All stored data of a person. */
export const PersonalData = Type.Object(
  {
    customer: Nullable(Customer),
    consent: Type.Array(ConsentChange, { description: 'The changes of consent, oldest first.' }),
    orders: Type.Array(Order, { description: 'Newest first.' }),
    returns: Type.Array(Return),
    transactions: Type.Array(RetailTransaction, { description: 'Newest first.' }),
    rewardAccount: Nullable(RewardAccount),
    vouchers: Type.Array(VoucherSale, {
      description:
        "Vouchers that were sent to the customer's email address, sold with the customer's orders, or sent by a person with the customer's name and address.",
    }),
    ecommerce: Type.Array(EcommerceCopy, {
      description: 'The imported data of the e-commerce platform (`ecommerce-customers`).',
    }),
    mappingIssues: Type.Array(MappingIssue, { description: 'The mapping issues of the customer.' }),
    mappingFixes: Type.Array(MappingFix, {
      description: 'The mapping fixes of the customer in the last 90 days, oldest first.',
    }),
  },
  { $id: 'PersonalData', additionalProperties: false },
)

import { client } from './tillbridge.ts'

const { BASKET_ID } = process.env
if (!BASKET_ID) throw new Error('BASKET_ID must be set.')
const voucher = await client.vouchers.issue(
  {
    amount: '50.00',
    gateway: 'card',
    senderName: 'Bo',
    receiverName: 'Ann',
    receiverEmail: 'ann@example.com',
    subject: 'Happy birthday',
    message: 'Enjoy!',
    billingAddress: { country: 'Australia' },
  },
  { idempotencyKey: `voucher-${BASKET_ID}-1` },
)
console.log(voucher.status, voucher.number, voucher.email?.status)

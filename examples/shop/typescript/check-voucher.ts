import { client } from './tillbridge.ts'

const voucher = await client.vouchers.validate(
  { number: '9100001', pin: '204816', amount: '10.00' },
  { shopperIp: '203.0.113.7' },
)
console.log('balance:', voucher.availableAmount, voucher.currency)

import { responseMeta } from 'tillbridge-client'
import { client } from './tillbridge.ts'

const signUpId = process.env.SIGN_UP_ID
const customer = await client.customers.create(
  {
    firstname: 'Ann',
    surname: 'Lee',
    contact: { email: `ann.lee+${signUpId}@example.com` },
    emailSubscription: true,
  },
  { idempotencyKey: `sign-up-${signUpId}` },
)
console.log(customer.id)
for (const warning of responseMeta(customer)?.warnings ?? []) console.warn(warning.detail)

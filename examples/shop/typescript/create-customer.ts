import { responseMeta } from 'tillbridge-client'
import { client } from './tillbridge.ts'

const { SIGN_UP_ID: signUpId } = process.env
if (!signUpId) throw new Error('SIGN_UP_ID must be set.')
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

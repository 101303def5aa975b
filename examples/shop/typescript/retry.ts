import { client } from './tillbridge.ts'

// The client retries automatically with the same key, for 60 seconds by default. Pass your own key
// if the write must also take effect only once across restarts of your program.
const { SIGN_UP_ID: signUpId } = process.env
if (!signUpId) throw new Error('SIGN_UP_ID must be set.')
const customer = { firstname: 'Bo', surname: 'Lee', contact: { email: `bo.lee+${signUpId}@example.com` } }
const first = await client.customers.create(customer, { idempotencyKey: `retry-${signUpId}` })
const second = await client.customers.create(customer, { idempotencyKey: `retry-${signUpId}` })
console.log(first.id === second.id ? 'created once' : 'created twice')

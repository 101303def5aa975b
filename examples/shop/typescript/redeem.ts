import { randomUUID } from 'node:crypto'
import { client } from './tillbridge.ts'

const account = await client.customers.rewards('60001')
const requestId = randomUUID()
await client.rewards.redeem(account.id, { requestId, points: 5, seconds: 600 })
const redemption = await client.rewards.confirm(account.id, requestId)
console.log(redemption.points, 'points', redemption.status)

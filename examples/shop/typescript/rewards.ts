import { client } from './tillbridge.ts'

const account = await client.customers.rewards('60001')
console.log(account.tierName, account.availablePoints, 'points,', account.pointsToNextReward, 'to the next reward')

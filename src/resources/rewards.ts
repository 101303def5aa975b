import { RewardAccount, RewardProgram } from '../domain/rewards/rewards.ts'
import { get } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { listRewardPrograms } from '../store/rewards/rewards.ts'

export const liveRewardsDescription =
  'Read from the back office at the time of the request, never from a copy. If the back office is unavailable, the response is 503.'

/** Loyalty programs and reward accounts. */
export const rewards = [
  get(
    '/rewards/programs',
    {
      operationId: 'listRewardPrograms',
      tag: 'Rewards',
      summary: 'List reward programs',
      description: 'The programs with their tiers and gifts.',
      response: Type.Array(RewardProgram),
    },
    async ({ db, service }) => ({ record: await listRewardPrograms(db, service) }),
  ),

  get(
    '/rewards/accounts/:id',
    {
      operationId: 'getRewardAccount',
      tag: 'Rewards',
      summary: 'Get a reward account',
      description: liveRewardsDescription,
      params: { id: { description: 'The reward account.', example: '22672' } },
      response: RewardAccount,
      recordName: 'reward account',
      etag: true,
      errors: ['back_office_error', 'back_office_unavailable'],
    },
    ({ backOffice, db, service, params }) => backOffice.rewardAccount({ db, service }, { id: params.id }),
  ),
]

import { RewardAccount, RewardProgram } from '../domain/rewards/rewards.ts'
import { get } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { rewardPrograms } from '../store/rewards/rewards.ts'

export const liveRewards =
  'What the back office says at this moment, never what it said some time ago: where it cannot be reached there is no answer.'

/** Contract 8. */
export const rewards = [
  get(
    '/rewards/programs',
    {
      operationId: 'listRewardPrograms',
      tag: 'Rewards',
      summary: 'List reward programs',
      description: 'What points and spending lead to, tier by tier.',
      answer: Type.Array(RewardProgram),
    },
    async ({ db, service }) => ({ record: await rewardPrograms(db, service) }),
  ),

  get(
    '/rewards/accounts/:id',
    {
      operationId: 'getRewardAccount',
      tag: 'Rewards',
      summary: 'Get a reward account',
      description: liveRewards,
      params: { id: { description: 'The reward account.', example: '22672' } },
      answer: RewardAccount,
      kind: 'reward account',
      etag: true,
      errors: ['back_office_error', 'back_office_unavailable'],
    },
    ({ backOffice, db, service, params }) => backOffice.rewardAccount({ db, service }, { id: params.id }),
  ),
]

import {
  defaultSeconds,
  isRequestId,
  RedemptionInput,
  RewardRedemption,
  toRedemption,
} from '../domain/rewards/redemptions.ts'
import { RewardAccount, RewardProgram } from '../domain/rewards/rewards.ts'
import { ApiError, notFound } from '../errors/api-error.ts'
import { EmptyBody } from '../http/body/body.ts'
import { get, post } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { findRedemption } from '../store/rewards/redemptions.ts'
import { listRewardPrograms } from '../store/rewards/rewards.ts'
import { mapCommitPhase } from '../writes/write.ts'

export const liveRewardsDescription =
  'Read from the back office at the time of the request, never from a copy. If the back office is unavailable, the response is 503.'

const accountId = { description: 'The reward account.', example: '22672' }
const redemptionPath = '/rewards/accounts/:id/redemptions/:requestId'
const redemptionParams = {
  id: accountId,
  requestId: { description: 'The UUID of the redemption.', example: '019a6f2e-7c1d-7b3a-9f10-2d5e8c4b6a91' },
}
const backOfficeErrors = ['back_office_error', 'back_office_unavailable', 'capability_unavailable'] as const

const ends = [
  {
    action: 'confirm',
    operationId: 'confirmRedemption',
    summary: 'Confirm a redemption',
    description:
      'The reserved amount is used. Confirm it when the order is placed. Has no effect if it is already confirmed.',
  },
  {
    action: 'cancel',
    operationId: 'cancelRedemption',
    summary: 'Cancel a redemption',
    description:
      "The reserved amount can be used again. Has no effect if the redemption is already cancelled or expired. A confirmed one can't be cancelled.",
  },
] as const

/** Loyalty programs, reward accounts and redemptions. */
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
      params: { id: accountId },
      response: RewardAccount,
      recordName: 'reward account',
      etag: true,
      errors: ['back_office_error', 'back_office_unavailable'],
    },
    ({ backOffice, db, service, params }) => backOffice.rewardAccount({ db, service }, { id: params.id }),
  ),

  post(
    '/rewards/accounts/:id/redemptions',
    {
      operationId: 'redeemRewards',
      tag: 'Rewards',
      role: 'visitor',
      summary: 'Reserve rewards',
      description:
        'Reserves points or rewards for a checkout, until they are confirmed, cancelled or expired. An account can have at most 1,000 pending redemptions.',
      params: { id: accountId },
      body: RedemptionInput,
      response: RewardRedemption,
      errors: ['insufficient_rewards', 'idempotency_key_reused', 'rate_limited', ...backOfficeErrors],
    },
    async ({ backOffice, params, body, ...write }) => {
      const redemption = toRedemption(params.id, body, write.service.settings)
      const { seconds = defaultSeconds } = body
      return mapCommitPhase(await backOffice.redeemRewards(write, { ...redemption, seconds }), toResult)
    },
  ),

  get(
    redemptionPath,
    {
      operationId: 'getRedemption',
      tag: 'Rewards',
      summary: 'Get a redemption',
      description: 'Redemptions stay for 90 days.',
      params: redemptionParams,
      response: RewardRedemption,
      recordName: 'redemption',
    },
    async ({ db, service, params }) => {
      const key = toKey(params)
      const data = key && (await findRedemption(db, service, key))
      return data && { data }
    },
  ),

  ...ends.map(({ action, operationId, summary, description }) =>
    post(
      `${redemptionPath}/${action}`,
      {
        operationId,
        tag: 'Rewards',
        role: 'visitor',
        status: 200,
        summary,
        description,
        params: redemptionParams,
        body: EmptyBody,
        response: RewardRedemption,
        errors: ['invalid_transition', ...backOfficeErrors],
      },
      async ({ backOffice, params, ...write }) => {
        const key = toKey(params)
        if (!key) throw notFound('redemption')
        return mapCommitPhase(await backOffice.endRedemption(write, key, action), toResult)
      },
    ),
  ),
]

/** Returns the key of a redemption, or undefined if the request ID is no UUID. */
const toKey = ({ id, requestId }: { id: string; requestId: string }) =>
  isRequestId(requestId) ? { accountId: id, requestId: requestId.toLowerCase() } : undefined

const toResult = (redemption: RewardRedemption | ApiError) =>
  redemption instanceof ApiError
    ? redemption
    : {
        data: redemption,
        subject: `/rewards/accounts/${encodeURIComponent(redemption.accountId)}/redemptions/${redemption.requestId}`,
      }

import type { Db } from '../../../database/db.ts'
import { awaitAtCommit } from '../../../database/db.ts'
import {
  canAct,
  checkAccountRedemptions,
  formatUnits,
  insufficientRewards,
  type Redemption,
  type RedemptionAction,
  type RedemptionStatus,
  redemptionEnded,
  requireSameRedemption,
  toAmount,
} from '../../../domain/rewards/redemptions.ts'
import type { Service } from '../../../domain/tenancy/service-settings.ts'
import { ApiError, notFound } from '../../../errors/api-error.ts'
import {
  countRedemptions,
  deleteRedemption,
  getRedemptionLock,
  inFlightSeconds,
  insertRedemption,
  lockRedemption,
  readRedemption,
  setRedemptionStatus,
} from '../../../store/rewards/redemptions.ts'
import { makeRefreshDue } from '../../../store/sync/refreshes.ts'
import { NotApplied, type Write } from '../../../writes/write.ts'
import type { Driver } from '../../port/driver.ts'
import type { RewardWrites } from '../../port/rewards.ts'
import type { Client } from '../client/client.ts'
import { performWrite } from '../client/perform-write.ts'
import { isId, type WriteRequest } from '../client/request.ts'
import { alreadyProcessed, findRetailApiError, requestUnknown } from '../client/retail-api-error.ts'
import type { Upstream } from '../queries/upstream.ts'
import { buildPayload } from '../xml/payload.ts'
import { convertAccount } from './reward-accounts.ts'

/**
 * Redemptions that the back office keeps. It executes each request ID once. Therefore the status is stored before each request, a request
 * without a response is repeated, and the job `end-redemptions` finishes what is left at the expiry.
 */
export const createRewardWrites = ({ client }: Upstream): RewardWrites => ({
  async redeemRewards(write, { seconds, ...redemption }) {
    // Recovery: the caller can repeat the request ID, and the redemption expires. There is nothing to find out.
    if (write.isRecovering) throw new NotApplied()
    const { service, stage, username } = write
    const { personId, available } = await fetchBalance(client, service, redemption)
    const insert = (tx: Db, status: 'pending' | 'submitting') =>
      insertRedemption(tx, service, redemption, { username, seconds, status })
    const previous = await stage(
      async tx => {
        const stored = await lockRedemption(tx, service, redemption.requestId)
        if (stored) requireSameRedemption(stored, redemption)
        else {
          const error = checkAccountRedemptions(await countRedemptions(tx, service, username))
          if (error) throw error
          insert(tx, 'submitting')
        }
        return stored?.status
      },
      { names: [getRedemptionLock(redemption.requestId)] },
    )
    if (previous !== undefined && previous !== 'submitting') return tx => readRedemption(tx, service, redemption)
    if (write.isDryRun) {
      const { kind, amount } = redemption
      if (amount > available) throw insufficientRewards(kind, available, service.settings.currency)
      return async tx => {
        if (previous === undefined) insert(tx, 'pending')
        return readRedemption(tx, service, redemption)
      }
    }
    const request = buildRedemptionRequest(redemption, personId, service)
    const { rejection, isInDoubt } = await sendOnce(client, write, request, previous !== undefined)
    if (!rejection) return tx => storeStatus(tx, service, redemption, 'pending')
    if (isInDoubt) await reverse(client, write, redemption)
    await stage(tx => deleteRedemption(tx, service, redemption))
    throw findRetailApiError(rejection)?.code === alreadyProcessed ? new ApiError('idempotency_key_reused') : rejection
  },

  async endRedemption(write, key, action) {
    if (write.isRecovering) throw new NotApplied()
    const { service, stage } = write
    const previous = await stage(
      async tx => {
        const stored = await lockRedemption(tx, service, key.requestId)
        if (stored?.accountId !== key.accountId) throw notFound('redemption')
        if (!canAct(action, stored.status)) return
        setRedemptionStatus(tx, service, key, inFlightStatus[action], inFlightSeconds)
        return stored.status
      },
      { names: [getRedemptionLock(key.requestId)] },
    )
    if (previous === undefined) return tx => readRedemption(tx, service, key)
    const { rejection, isInDoubt } = await sendOnce(client, write, buildEndRequest(action, key), previous !== 'pending')
    const ended = rejection ? findEndedStatus(action, rejection) : endedStatus[action]
    if (ended === undefined) {
      if (isInDoubt) throw createUnknownOutcome()
      await stage(async tx => setRedemptionStatus(tx, service, key, previous))
      throw rejection
    }
    return async tx => {
      const redemption = await storeStatus(tx, service, key, ended)
      return action === 'confirm' && ended !== 'confirmed' ? redemptionEnded(action, ended) : redemption
    }
  },
})

/** Finishes an expired redemption: repeats a confirmation whose outcome is unknown, and reverses any other redemption. */
export const finishRedemption =
  (client: Client): NonNullable<Driver['finishRedemption']> =>
  async ({ status, ...key }, signal) => {
    const action = status === 'confirming' ? 'confirm' : 'cancel'
    const ended = action === 'confirm' ? 'confirmed' : status === 'cancelling' ? 'cancelled' : 'expired'
    try {
      await client.write({ ...buildEndRequest(action, key), signal })
      return ended
    } catch (error) {
      const code = findRetailApiError(error)?.code
      // An earlier attempt, whose response was lost, has done it.
      if (code === alreadyProcessed) return ended
      if (code === requestUnknown) return action === 'confirm' ? 'expired' : ended
      throw error
    }
  }

const inFlightStatus = { confirm: 'confirming', cancel: 'cancelling' } as const
const endedStatus = { confirm: 'confirmed', cancel: 'cancelled' } as const

/** Returns the status of a redemption after a rejection that means that it has ended in the back office. */
function findEndedStatus(action: RedemptionAction, rejection: ApiError): 'cancelled' | 'expired' | undefined {
  const code = findRetailApiError(rejection)?.code
  if (code !== alreadyProcessed && code !== requestUnknown) return
  return action === 'cancel' ? 'cancelled' : 'expired'
}

interface SendResult {
  /** Absent if the back office has executed the request, now or earlier. */
  rejection?: ApiError
  /** True if an earlier request with the ID may have been executed. */
  isInDoubt: boolean
}

/**
 * Sends a request with a request ID, and repeats it if its outcome is unknown. `isInDoubt`: an earlier attempt may have been executed. Throws
 * `outcome_unknown` if the outcome stays unknown.
 */
async function sendOnce(client: Client, write: Write, request: WriteRequest, isInDoubt: boolean): Promise<SendResult> {
  let mayBeExecuted = isInDoubt
  for (let attempt = 1; ; attempt++)
    try {
      await performWrite(client, write, request)
      return { isInDoubt: mayBeExecuted }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const code = findRetailApiError(error)?.code
      if (code === alreadyProcessed && mayBeExecuted) {
        write.recordEffect('applied')
        return { isInDoubt: true }
      }
      if (error.code === 'outcome_unknown' && attempt === 1) mayBeExecuted = true
      // Without a response of the Retail API, an earlier attempt can't be ruled out.
      else if (error.code === 'outcome_unknown' || (mayBeExecuted && code === undefined)) throw createUnknownOutcome()
      else return { rejection: error, isInDoubt: mayBeExecuted }
    }
}

/** Reverses a redemption whose repetition was rejected, in case an earlier attempt has reserved it after all. */
async function reverse(client: Client, write: Write, key: Pick<Redemption, 'requestId'>) {
  const { rejection } = await sendOnce(client, write, buildEndRequest('cancel', key), true)
  if (rejection && findRetailApiError(rejection)?.code !== requestUnknown) throw createUnknownOutcome()
  write.recordEffect('not_applied')
}

const createUnknownOutcome = () => new ApiError('outcome_unknown', undefined, { retryAfter: 2 })

/** Stores the status, and has the sync read the account again. */
function storeStatus(
  tx: Db,
  service: Service,
  key: Pick<Redemption, 'accountId' | 'requestId'>,
  status: RedemptionStatus,
) {
  setRedemptionStatus(tx, service, key, status)
  awaitAtCommit(makeRefreshDue(tx, service, 'reward-accounts', key.accountId))
  return readRedemption(tx, service, key)
}

/** Fetches the person and the available amount of an account. Throws `not_found`. */
async function fetchBalance(client: Client, service: Service, { accountId, kind }: Redemption) {
  const path = ['Rewards', 'Accounts', accountId]
  const account = isId(accountId)
    ? await client.document({ endpoint: 'rewards', path, version: 1, roots: ['RewardAccount'] })
    : undefined
  if (!account) throw notFound('reward account')
  const { customerId, availablePoints, availableRewards } = convertAccount(account, service)
  return { personId: customerId, available: toAmount(kind === 'points' ? String(availablePoints) : availableRewards) }
}

function buildRedemptionRequest(
  { accountId, requestId, kind, amount }: Redemption,
  personId: string,
  { settings }: Service,
): WriteRequest {
  const value = formatUnits(kind, amount, settings.currency)
  const body = buildPayload('RewardRedemption', [
    ['RequestId', requestId],
    ['PersonId', personId],
    [kind === 'points' ? 'Points' : 'Amount', value],
    ['AutoConfirm', 'false'],
  ])
  const path = ['Rewards', 'Accounts', accountId, kind === 'points' ? 'Points' : 'Rewards', 'Redemptions']
  return { endpoint: 'rewards', method: 'POST', path, version: 1, body }
}

const buildEndRequest = (action: RedemptionAction, { requestId }: Pick<Redemption, 'requestId'>): WriteRequest => ({
  endpoint: 'rewards',
  method: 'POST',
  path: ['Rewards', action === 'confirm' ? 'Confirmation' : 'Reversal'],
  version: 1,
  query: { requestId },
})

import type { Refresh, SyncBatch, SyncRequest } from '../../../domain/sync/port.ts'
import { getDecimals, parseAmount } from '../../../domain/values/money.ts'
import type { Client } from '../client/client.ts'
import { accountUnknown, findRetailApiError } from '../client/retail-api-error.ts'
import { parseAccount, parseGifts, parseLots, parseTiers, type QualifyingSpends } from '../mapping/rewards.ts'
import { convertRecords } from '../xml/invalid-record.ts'
import type { Xml } from '../xml/xml.ts'
import { refreshed } from './refreshes.ts'

async function programs(client: Client, signal: AbortSignal): Promise<Xml[]> {
  const { records } = await client.list({
    endpoint: 'rewards',
    path: ['Rewards', 'Programs'],
    version: 1,
    signal,
    roots: ['RewardPrograms', 'Program'],
    record: 'Program',
  })
  return Array.fromAsync(records)
}

/** The programmes with their tiers and gifts. */
export async function* fetchRewardPrograms(
  client: Client,
  { settings, signal }: SyncRequest,
): AsyncGenerator<SyncBatch> {
  yield batchOf(await programs(client, signal), getDecimals(settings.currency))
}

function batchOf(found: readonly Xml[], decimals: number): SyncBatch {
  const tiers = convertRecords(found, program => parseTiers(program, decimals))
  const gifts = convertRecords(found, parseGifts)
  return {
    rows: { rewardPrograms: tiers.rows.flat(), rewardGifts: gifts.rows.flat() },
    rejected: [...tiers.rejected, ...gifts.rejected],
  }
}

/** The accounts that are due, each with all its open lots; before them the programmes, since one may be of a tier that is new. */
export async function* fetchRewardAccounts(
  client: Client,
  { settings, signal, refreshes }: SyncRequest,
): AsyncGenerator<SyncBatch> {
  const decimals = getDecimals(settings.currency)
  let found: Xml[] | undefined
  let spend: QualifyingSpends | undefined
  async function* due(): AsyncGenerator<Refresh> {
    for await (const refresh of refreshes) {
      found ??= await programs(client, signal)
      spend ??= qualifyingOf(found, decimals)
      yield refresh
    }
  }
  const batches = refreshed(due(), async ({ id }) => {
    const account = await accountById(client, id, signal)
    // Where it has no programmes either it is not the account that is gone.
    if (!account) return found?.length ? { removedAccounts: [{ accountId: id }] } : {}
    const { rows, rejected } = convertRecords([account], one => ({
      account: parseAccount(one, decimals, spend ?? new Map()),
      lots: parseLots(one, decimals),
    }))
    return { rows: { rewardAccounts: rows.map(row => row.account), rewardLots: rows.map(row => row.lots) }, rejected }
  })
  let isFirst = true
  for await (const batch of batches) {
    if (isFirst && found) yield batchOf(found, decimals)
    isFirst = false
    yield batch
  }
}

/** A reward account; undefined where there is none, which is told in two ways. */
const accountById = (client: Client, id: string, signal: AbortSignal): Promise<Xml | undefined> =>
  client
    .document({ endpoint: 'rewards', path: ['Rewards', 'Accounts', id], version: 1, roots: ['RewardAccount'], signal })
    .catch(error => {
      if (findRetailApiError(error)?.code === accountUnknown) return undefined
      throw error
    })

function qualifyingOf(found: readonly Xml[], decimals: number): QualifyingSpends {
  const tiers = convertRecords(found, program => parseTiers(program, decimals)).rows.flat()
  return new Map(
    [...Map.groupBy(tiers, row => row.program.programId)].map(([programId, rows]) => [
      programId,
      new Map(rows.map(({ tier }) => [tier.tierId, parseAmount(tier.qualifySpend ?? '0', decimals) ?? 0n])),
    ]),
  )
}

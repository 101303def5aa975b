import type { Refresh, SyncBatch, SyncRequest } from '../../../domain/sync/port.ts'
import { getDecimals, parseAmount } from '../../../domain/values/money.ts'
import type { Client } from '../client/client.ts'
import { accountUnknown, findRetailApiError } from '../client/retail-api-error.ts'
import { parseAccount, parseGifts, parseLots, parseTiers, type QualifyingSpends } from '../mapping/rewards.ts'
import { convertRecords } from '../xml/invalid-record.ts'
import type { Xml } from '../xml/xml.ts'
import { refreshRecords } from './refreshes.ts'

async function fetchPrograms(client: Client, signal: AbortSignal): Promise<Xml[]> {
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

/** Fetches the programs with their tiers and gifts. */
export async function* fetchRewardPrograms(
  client: Client,
  { settings, signal }: SyncRequest,
): AsyncGenerator<SyncBatch> {
  yield buildProgramBatch(await fetchPrograms(client, signal), getDecimals(settings.currency))
}

function buildProgramBatch(programs: readonly Xml[], decimals: number): SyncBatch {
  const tiers = convertRecords(programs, program => parseTiers(program, decimals))
  const gifts = convertRecords(programs, parseGifts)
  return {
    rows: { rewardPrograms: tiers.rows.flat(), rewardGifts: gifts.rows.flat() },
    rejected: [...tiers.rejected, ...gifts.rejected],
  }
}

/** Fetches the due accounts with all open lots. The programs come first, because an account can have a new tier. */
export async function* fetchRewardAccounts(
  client: Client,
  { settings, signal, refreshes }: SyncRequest,
): AsyncGenerator<SyncBatch> {
  const decimals = getDecimals(settings.currency)
  let programs: Xml[] | undefined
  let spend: QualifyingSpends | undefined
  async function* listDue(): AsyncGenerator<Refresh> {
    for await (const refresh of refreshes) {
      programs ??= await fetchPrograms(client, signal)
      spend ??= getQualifyingSpends(programs, decimals)
      yield refresh
    }
  }
  const batches = refreshRecords(listDue(), async ({ id }) => {
    const account = await fetchAccount(client, id, signal)
    // If the back office has no programs either, the account was not deleted.
    if (!account) return programs?.length ? { removedAccounts: [{ accountId: id }] } : {}
    const { rows, rejected } = convertRecords([account], record => ({
      account: parseAccount(record, decimals, spend ?? new Map()),
      lots: parseLots(record, decimals),
    }))
    return { rows: { rewardAccounts: rows.map(row => row.account), rewardLots: rows.map(row => row.lots) }, rejected }
  })
  let isFirst = true
  for await (const batch of batches) {
    if (isFirst && programs) yield buildProgramBatch(programs, decimals)
    isFirst = false
    yield batch
  }
}

/** Fetches a reward account. Returns undefined if it doesn't exist, which the Retail API reports in two ways. */
const fetchAccount = (client: Client, id: string, signal: AbortSignal): Promise<Xml | undefined> =>
  client
    .document({ endpoint: 'rewards', path: ['Rewards', 'Accounts', id], version: 1, roots: ['RewardAccount'], signal })
    .catch(error => {
      if (findRetailApiError(error)?.code === accountUnknown) return undefined
      throw error
    })

function getQualifyingSpends(programs: readonly Xml[], decimals: number): QualifyingSpends {
  const tiers = convertRecords(programs, program => parseTiers(program, decimals)).rows.flat()
  return new Map(
    [...Map.groupBy(tiers, row => row.program.programId)].map(([programId, rows]) => [
      programId,
      new Map(rows.map(({ tier }) => [tier.tierId, parseAmount(tier.qualifySpend ?? '0', decimals) ?? 0n])),
    ]),
  )
}

import { decimalsOf, minorUnits } from '../../../domain/money.ts'
import type { Portion, PullRequest } from '../../../domain/port/feed.ts'
import type { Client } from '../calls/client.ts'
import { accountFrom, giftRowsFrom, lotsFrom, type Qualifying, tierRowsFrom } from '../records/rewards.ts'
import { translated } from '../xml/untranslatable.ts'
import type { Xml } from '../xml/xml.ts'
import { visited } from './visits.ts'

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
export async function* pullPrograms(client: Client, { settings, signal }: PullRequest): AsyncGenerator<Portion> {
  const found = await programs(client, signal)
  const tiers = translated(found, program => tierRowsFrom(program, decimalsOf(settings.currency)))
  const gifts = translated(found, giftRowsFrom)
  yield {
    rows: { rewardPrograms: tiers.rows.flat(), rewardGifts: gifts.rows.flat() },
    refused: [...tiers.refused, ...gifts.refused],
  }
}

/** The accounts that are due, each with all its open lots. */
export async function* pullAccounts(client: Client, request: PullRequest): AsyncGenerator<Portion> {
  const { settings, signal, visits } = request
  const decimals = decimalsOf(settings.currency)
  let known: Promise<Qualifying> | undefined
  const qualifying = () => {
    known ??= programs(client, signal).then(found => qualifyingOf(found, decimals))
    return known
  }
  yield* visited(visits, async ({ id }) => {
    const path = ['Rewards', 'Accounts', id]
    const account = await client.document({ endpoint: 'rewards', path, version: 1, roots: ['RewardAccount'], signal })
    if (!account) return {}
    const spend = await qualifying()
    const { rows, refused } = translated([account], one => ({
      account: accountFrom(one, decimals, spend),
      lots: lotsFrom(one, decimals),
    }))
    return { rows: { rewardAccounts: rows.map(row => row.account), rewardLots: rows.map(row => row.lots) }, refused }
  })
}

function qualifyingOf(found: readonly Xml[], decimals: number): Qualifying {
  const tiers = translated(found, program => tierRowsFrom(program, decimals)).rows.flat()
  return new Map(
    [...Map.groupBy(tiers, row => row.program.programId)].map(([programId, rows]) => [
      programId,
      new Map(rows.map(({ tier }) => [tier.tierId, minorUnits(tier.qualifySpend ?? '0', decimals) ?? 0n])),
    ]),
  )
}

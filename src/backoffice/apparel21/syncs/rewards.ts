import type { Portion, PullRequest, Visit } from '../../../domain/sync/port.ts'
import { decimalsOf, minorUnits } from '../../../domain/values/money.ts'
import type { Client } from '../client/client.ts'
import { accountUnknown, refusalBehind } from '../client/rejection.ts'
import { accountFrom, giftRowsFrom, lotsFrom, type Qualifying, tierRowsFrom } from '../mapping/rewards.ts'
import { translated } from '../xml/untranslatable.ts'
import type { Xml } from '../xml/xml.ts'
import { visited } from './refreshes.ts'

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
  yield portionOf(await programs(client, signal), decimalsOf(settings.currency))
}

function portionOf(found: readonly Xml[], decimals: number): Portion {
  const tiers = translated(found, program => tierRowsFrom(program, decimals))
  const gifts = translated(found, giftRowsFrom)
  return {
    rows: { rewardPrograms: tiers.rows.flat(), rewardGifts: gifts.rows.flat() },
    refused: [...tiers.refused, ...gifts.refused],
  }
}

/** The accounts that are due, each with all its open lots; before them the programmes, since one may be of a tier that is new. */
export async function* pullAccounts(
  client: Client,
  { settings, signal, visits }: PullRequest,
): AsyncGenerator<Portion> {
  const decimals = decimalsOf(settings.currency)
  let found: Xml[] | undefined
  let spend: Qualifying | undefined
  async function* due(): AsyncGenerator<Visit> {
    for await (const visit of visits) {
      found ??= await programs(client, signal)
      spend ??= qualifyingOf(found, decimals)
      yield visit
    }
  }
  const portions = visited(due(), async ({ id }) => {
    const account = await accountById(client, id, signal)
    // Where it has no programmes either it is not the account that is gone.
    if (!account) return found?.length ? { goneAccounts: [{ accountId: id }] } : {}
    const { rows, refused } = translated([account], one => ({
      account: accountFrom(one, decimals, spend ?? new Map()),
      lots: lotsFrom(one, decimals),
    }))
    return { rows: { rewardAccounts: rows.map(row => row.account), rewardLots: rows.map(row => row.lots) }, refused }
  })
  let isFirst = true
  for await (const portion of portions) {
    if (isFirst && found) yield portionOf(found, decimals)
    isFirst = false
    yield portion
  }
}

/** A reward account; undefined where there is none, which is told in two ways. */
const accountById = (client: Client, id: string, signal: AbortSignal): Promise<Xml | undefined> =>
  client
    .document({ endpoint: 'rewards', path: ['Rewards', 'Accounts', id], version: 1, roots: ['RewardAccount'], signal })
    .catch(error => {
      if (refusalBehind(error)?.code === accountUnknown) return undefined
      throw error
    })

function qualifyingOf(found: readonly Xml[], decimals: number): Qualifying {
  const tiers = translated(found, program => tierRowsFrom(program, decimals)).rows.flat()
  return new Map(
    [...Map.groupBy(tiers, row => row.program.programId)].map(([programId, rows]) => [
      programId,
      new Map(rows.map(({ tier }) => [tier.tierId, minorUnits(tier.qualifySpend ?? '0', decimals) ?? 0n])),
    ]),
  )
}

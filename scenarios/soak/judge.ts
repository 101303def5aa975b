import { sql } from '../../src/database/db.ts'
import { type Verdict, verdict } from '../support/verdict.ts'
import type { Client } from './client.ts'
import { judgeAlike } from './judge-alike.ts'
import { judgeEmbedded } from './judge-embedded.ts'
import { judgeLists } from './judge-lists.ts'
import { judgeVouchers } from './judge-vouchers.ts'
import { judgeWrites } from './judge-writes.ts'
import { openIn } from './kills.ts'
import type { Shared } from './shoppers.ts'
import type { Done } from './staff.ts'
import { isBehind, type World } from './world.ts'

/** What there is to judge. */
export interface Judging {
  world: World
  shared: Shared
  /** What went on at the back office behind, where there is one. */
  behind: { done: Done; usedBefore: ReadonlyMap<string, number> } | undefined
  client: Client
  seen: readonly Verdict[]
  troubles: ReadonlyMap<string, number>
}

/** Holds what clients were told against our tables, and all of it against the simulator, where one stands behind. */
export async function judge({ world, shared, behind, client, seen, troubles }: Judging): Promise<Verdict[]> {
  const { db, service, log } = world
  const open = await openIn(db)
  return [
    verdict('there were writes to judge', [], shared.deeds.length),
    ...seen,
    ...(behind && isBehind(world)
      ? [
          ...(await judgeLists(world, client)),
          ...(await judgeWrites(world, shared, behind.done)),
          ...(await judgeAlike(world, shared)),
          ...(await judgeVouchers(world, client, behind.done, behind.usedBefore)),
        ]
      : await judgeEmbedded(world, shared)),
    verdict('no write is left open, and nothing is held', open),
    verdict('a key is answered the same, however often it is asked', shared.contradictions),
    await replays(),
    verdict(
      'no key, no lock and no pull is left hanging',
      (
        await db.rows<{ what: string }>(sql`
          select 'a lock of ' || locktype as what from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
          union all select 'a pull of ' || feed from sync_state where service_id = ${service.id} and run is not null
          union all select 'a transaction' from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`)
      ).map(({ what }) => what),
    ),
    verdict(
      'no answer was internal_error',
      [...troubles.keys()].filter(code => /internal_error/.test(code)),
    ),
    verdict('nothing unexpected was logged', log.slice(0, 3)),
  ]

  /** Every key that was acknowledged is asked for once more. */
  async function replays(): Promise<Verdict> {
    const keyed = shared.deeds.filter(({ kind, answer }) => kind !== 'change' && answer.status < 300)
    const wrong: string[] = []
    for (const { key, method, path, body, answer } of keyed) {
      const again = await client.ask({ method, path, body, key })
      if (!again.isReplay || JSON.stringify(again.json) !== JSON.stringify(answer.json))
        wrong.push(`${key}: ${again.status} ${again.json.code ?? ''}`)
    }
    return verdict('each acknowledged key is answered again, and does nothing again', wrong, keyed.length)
  }
}

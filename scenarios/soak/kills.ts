import { setTimeout as delay } from 'node:timers/promises'
import { type Db, sql } from '../../src/database/db.ts'
import type { Random } from '../support/random.ts'
import type { World } from './world.ts'

/** Kills API processes and workers at any moment, beside those that die at a border, until it is over; one API process stays up. */
export async function kills({ servers, workers }: World, random: Random, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await delay(random.whole(500, 4_000))
    const target = random.pick(random.chance(0.6) ? servers : workers)
    const isSpared = servers.includes(target) && !servers.some(other => other !== target && other.isUp)
    // Most of those that are to die at a border live until they get there.
    if (target.doom && random.chance(0.7)) continue
    if (!isOver() && target.isUp && !isSpared) target.kill()
  }
}

/** What is open, and what is held. */
export const openIn = async (db: Db) =>
  (
    await db.rows<{ what: string }>(sql`
      select operation || ' since ' || started_at as what from intent
      union all select 'something held' from reservation h
       where reserved_until > now() or until_resolved and exists (select from intent i where i.service_id = h.service_id and i.id = h.owner)`)
  ).map(({ what }) => what)

/** Waits until all that was left open is settled by the workers, without their pauses; not for ever. */
export async function untilSettled({ db }: World): Promise<void> {
  for (const end = performance.now() + 90_000; performance.now() < end; await delay(300)) {
    if ((await openIn(db)).length === 0) return
    // Whoever is at one still has it by its claim.
    await db.run(sql`update intent set next_check_at = now() where next_check_at > now() and claimed_until <= now()`)
    await db.run(sql`update job set due_at = now() where name = 'settle-writes' and lease is null`)
  }
}

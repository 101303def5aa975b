import { randomUUID } from 'node:crypto'
import { type Db, sql } from '../database/db.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import type { Holding } from '../store/writes/intents.ts'
import type { Site } from './commit.ts'
import type { Carrying } from './execute.ts'
import { inSteps } from './stages.ts'
import type { CommitPhase } from './write.ts'

/** What a transaction came to that is undone. */
class Undone<T> extends Error {
  readonly done: T
  constructor(done: T) {
    super('It was only tried.')
    this.done = done
  }
}

/**
 * Works out what a write would come to, and keeps nothing of it (contract 13): each of its transactions is undone, and no back office
 * is told. What is refused with something that was counted, a wrong PIN, is committed all the same, and it holds what the
 * write would: a trial is no way to guess, however many come at once.
 */
export async function tryOut<T>(
  site: Site,
  service: Service,
  work: (carrying: Carrying) => Promise<CommitPhase<T | ApiError>>,
): Promise<T> {
  const found = await inSteps(site, service, async ({ step, ...steps }) => {
    const undone = async <R>(of: (tx: Db) => Promise<R>, holding?: Holding): Promise<R> => {
      // What it holds others have to see: it is taken, and given back in the end.
      if (holding) await step(async () => {}, holding)
      try {
        return await step(async tx => {
          const done = await of(tx)
          if (done instanceof ApiError) return done
          // What nobody has waited for would fail with the commit, which does not come: this fails behind it.
          await tx.run(sql`select`)
          throw new Undone(done)
        })
      } catch (error) {
        if (error instanceof Undone) return error.done
        throw error
      }
    }
    const finish = await work({
      ...steps,
      step: undone,
      reference: randomUUID().replaceAll('-', ''),
      isKeyed: false,
      isSettling: false,
      wasOpen: () => false,
      isTrial: true,
      note() {},
    })
    const done = await undone(finish)
    return async () => done
  })
  if (found instanceof ApiError) throw found
  return found
}

import { randomUUID } from 'node:crypto'
import { type Db, sql } from '../../db.ts'
import type { Finish } from '../../domain/write.ts'
import { ApiError } from '../../errors.ts'
import type { Service } from '../../settings.ts'
import type { Carrying } from './carrying-out.ts'
import { type Site, transact } from './steps.ts'

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
 * is told. What is refused with something that was counted, a wrong PIN, is committed all the same: a trial is no way to guess.
 */
export async function tryOut<T>(
  site: Site,
  service: Service,
  work: (carrying: Carrying) => Promise<Finish<T | ApiError>>,
): Promise<T> {
  const undone = async <R>(of: (tx: Db) => Promise<R>): Promise<R> => {
    try {
      return await transact(site, service, async tx => {
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
    step: undone,
    read: of => of(site.db),
    learn: of => transact(site, service, of),
    reference: randomUUID().replaceAll('-', ''),
    isKeyed: false,
    isSettling: false,
    isTrial: true,
    note() {},
  })
  const found = await undone(finish)
  if (found instanceof ApiError) throw found
  return found
}

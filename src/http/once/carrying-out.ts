import { randomUUID } from 'node:crypto'
import { type Db, unawaited } from '../../db.ts'
import { type Finish, type Holding, isRefusal, NeverDone, type Steps, type Write } from '../../domain/write.ts'
import { ApiError } from '../../errors.ts'
import { failpoint } from '../../failpoints.ts'
import { CommitUnknown } from '../../outages.ts'
import type { Service } from '../../settings.ts'
import { requireHere } from '../../store/lists/change.ts'
import { type Audited, record } from '../../store/running/audit.ts'
import { type Answer, isKeyUsed, type KeyedWrite, keepAnswer, takeKey } from '../../store/running/idempotency.ts'
import {
  claimIntent,
  claimSeconds,
  endIntent,
  giveBackHolds,
  keepClaim,
  leaveIntent,
  type Requested,
} from '../../store/running/intents.ts'
import { type Identity, inProgress, whyUsed } from './idempotency.ts'
import { holdingsOf, inTheWay, type Site, TakenOver, transact } from './steps.ts'

/** What a write is told of itself while it is carried out. */
export type Carrying = Pick<
  Write,
  'step' | 'read' | 'learn' | 'note' | 'reference' | 'isKeyed' | 'isSettling' | 'wasOpen' | 'isTrial'
>

/** What a write has come to. */
export interface Done {
  answer: Answer
  /** The line that it leaves in the audit; absent where it leaves none. */
  audited?: Audited | undefined
}

/** Seconds of a claim that have to be left where a back office is told something: as long as it may take to answer. */
const telling = 12
/** Seconds after which it is found out what has become of a write, if its caller has not repeated it. */
const settleAfter = 5

/**
 * Carries out one write, once (docs/decisions/0012). What needs nobody else is one transaction: key, effect, audit and answer. Where a
 * back office is asked, the first step claims the write by a row of its own, and the last transaction, which is valid only under that
 * claim, deletes it. With `left` it is one that nobody is at any more, whose claim this is.
 */
export async function carryOut(
  site: Site,
  service: Service,
  { id, requestHash, keyed }: Identity,
  requested: Requested,
  work: (carrying: Carrying) => Promise<Finish<Done | ApiError>>,
  left?: { token: string },
): Promise<Answer> {
  const { db, keys } = site
  const claim = { id, token: left?.token ?? randomUUID() }
  const holdings = holdingsOf(site, service, id)
  let endsAt = performance.now() + claimSeconds * 1_000
  let isClaimed = left !== undefined
  /** Whether an attempt before this one was left open: of that, nothing is known until this one finds out. */
  let wasOpen = false
  let effect = 'none' as 'none' | 'about to be' | 'done'
  /** Of an attempt whose commit nobody knows. */
  let answered: Answer | ApiError | undefined
  /** Of the last attempt, whatever became of it. */
  let proposed: Answer | ApiError | undefined

  async function begin(tx: Db) {
    endsAt = performance.now() + claimSeconds * 1_000
    const found = await claimIntent(tx, keys, service, { ...claim, keyHash: keyed?.keyHash, requestHash, requested })
    // Not before: the claim waits for an attempt that is about to end, whose answer is seen only then.
    if (keyed) await takeKey(tx, service, keyed)
    if (found === 'other') throw new ApiError('idempotency_key_reused')
    if (found === 'running') throw inProgress()
    // Where nobody knows whether this was committed it is done anew, and may find what it has written itself.
    wasOpen ||= found === 'open'
  }

  async function step<T>(of: (tx: Db) => Promise<T>, holding?: Holding): Promise<T> {
    const done = await transact(
      site,
      service,
      async tx => {
        unawaited(requireHere(tx, service))
        if (!isClaimed) await begin(tx)
        const kept = await Promise.all([!isClaimed || keepClaim(tx, service, claim), holdings.keeps(tx)])
        if (!kept.every(Boolean)) throw new TakenOver()
        await holdings.take(tx, holding)
        return of(tx)
      },
      true,
    )
    holdings.taken(holding)
    if (!isClaimed) failpoint('after_claim')
    isClaimed = true
    return done
  }

  /** What goes out with the commit. */
  function kept(tx: Db, { answer, audited }: Done) {
    unawaited(audited ? record(tx, service, audited) : requireHere(tx, service))
    if (keyed) unawaited(keepAnswer(tx, keys, service, keyed, answer, audited?.subject))
    return answer
  }

  /** Nobody waits for the key: where it is not free nothing behind it is carried out, and what came of that is nobody's business. */
  async function underKey<T>(tx: Db, write: KeyedWrite, of: Finish<T>): Promise<T> {
    const [taken, done] = [takeKey(tx, service, write), of(tx)]
    await Promise.allSettled([taken, done])
    await taken
    return done
  }

  const finish = (of: Finish<Done | ApiError>) =>
    transact(
      site,
      service,
      async (tx, before) => {
        // What is known not to be kept is no answer.
        if (before instanceof CommitUnknown) answered = proposed ?? answered
        proposed = undefined
        const [keeps, isEnded] = await Promise.all([holdings.keeps(tx), isClaimed && endIntent(tx, service, claim)])
        if (isClaimed && !isEnded) {
          if (keyed) await takeKey(tx, service, keyed)
          if (answered) return answered
          throw new TakenOver()
        }
        if (!keeps) throw new TakenOver()
        answered = undefined
        const done = await (keyed && !isClaimed ? underKey(tx, keyed, of) : of(tx))
        proposed = done instanceof ApiError ? done : kept(tx, done)
        failpoint('before_commit')
        return proposed
      },
      keyed !== undefined || isClaimed,
    )

  /** Whether the back office may have done it, for all that is known. */
  const isOpen = (error: unknown) =>
    wasOpen || effect === 'done' ? !isRefusal(error) : effect === 'about to be' && isUnknown(error)

  const carrying: Carrying = {
    step,
    read: of => of(db),
    learn: of => step(of),
    reference: id.replaceAll('-', ''),
    isKeyed: keyed !== undefined,
    isSettling: left !== undefined,
    wasOpen: () => wasOpen || left !== undefined,
    isTrial: false,
    note(told) {
      if (told === 'about to be') {
        if (left) throw new NeverDone()
        if (performance.now() > endsAt - telling * 1_000) throw away()
      }
      effect = told
    },
  }
  let answer: Answer | ApiError
  try {
    answer = await finish(await work(carrying))
  } catch (error) {
    if (keyed && isKeyUsed(error)) throw await whyUsed(db, keys, service, keyed)
    if (error instanceof TakenOver) throw keyed && !left ? inProgress() : unknown(error)
    // Of what was never carried out nothing stays; the rest stays as it is until it is found out. Where not even that can be written
    // down the claim ends by itself.
    if (isClaimed && !left)
      await (isOpen(error)
        ? leaveIntent(db, service, claim, settleAfter)
        : db.transaction(tx => endIntent(tx, service, claim))
      ).catch(() => {})
    throw (wasOpen || effect === 'done') && !isRefusal(error) ? unknown(error) : error
  } finally {
    holdings.released()
  }
  if (answer instanceof ApiError) throw answer
  return answer
}

const isUnknown = (error: unknown) => !(error instanceof ApiError) || error.code === 'outcome_unknown'

const away = () => new ApiError('back_office_unavailable', undefined, { retryAfter: 2 })

/** What a caller is told of a write that may have been carried out. */
function unknown(error: unknown) {
  const { cause } = (error ?? {}) as { cause?: unknown }
  return Object.assign(new ApiError('outcome_unknown', undefined, { retryAfter: 2 }), { cause: cause ?? error })
}

/** Does something that takes steps, and of which nothing is left to find out, whatever becomes of it: a reading that counts, or holds. */
export async function inSteps<T>(site: Site, service: Service, work: (steps: Steps) => Promise<Finish<T>>): Promise<T> {
  const owner = randomUUID()
  const holdings = holdingsOf(site, service, owner)
  let holds = false
  const step: Steps['step'] = async (of, holding) => {
    holds ||= holding !== undefined
    const done = await transact(site, service, async tx => {
      unawaited(requireHere(tx, service))
      if (!(await holdings.keeps(tx))) throw new TakenOver()
      await holdings.take(tx, holding)
      return of(tx)
    })
    holdings.taken(holding)
    return done
  }
  try {
    const finish = await work({ step, read: of => of(site.db), learn: of => step(of) })
    const found = await transact(site, service, async tx => {
      unawaited(requireHere(tx, service))
      if (!(await holdings.keeps(tx))) throw new TakenOver()
      if (holds) await giveBackHolds(tx, service, owner)
      return finish(tx)
    })
    return found
  } catch (error) {
    if (holds) await giveBackHolds(site.db, service, owner).catch(() => {})
    throw error instanceof TakenOver ? inTheWay() : error
  } finally {
    holdings.released()
  }
}

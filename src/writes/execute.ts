import { type Db, sendWithCommit } from '../database/db.ts'
import { CommitUnknown } from '../database/errors.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { ApiError } from '../errors/api-error.ts'
import { type Audited, leaveAuditLine } from '../store/audit/audit.ts'
import { requireWritable } from '../store/lists/change-timestamp.ts'
import { type Answer, isKeyUsed, type KeyedWrite, keepAnswer, takeKey } from '../store/writes/idempotency.ts'
import type { Holding, Requested } from '../store/writes/intents.ts'
import { failpoint } from '../testing/failpoints.ts'
import { type Claim, claimOf, outcomeUnknown } from './claim.ts'
import { type Site, transact } from './commit.ts'
import { type Identity, inProgress, whyUsed } from './idempotency.ts'
import { type Holdings, holdingsOf, TakenOver } from './locks.ts'
import type { CommitPhase, Write } from './write.ts'

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

/** A write that is carried out: by which key, under which claim, and what it holds. */
interface UnderWay {
  site: Site
  service: Service
  keyed: KeyedWrite | undefined
  claim: Claim
  holdings: Holdings
}

/**
 * Carries out one write, once (contributing/decisions/0012). What needs nobody else is one transaction: key, effect, audit and answer. Where a
 * back office is asked, the first step claims the write by a row of its own, and the last transaction, which is valid only under that
 * claim, deletes it. With `left` it is one that nobody is at any more, whose claim this is.
 */
export async function carryOut(
  site: Site,
  service: Service,
  identity: Identity,
  requested: Requested,
  work: (carrying: Carrying) => Promise<CommitPhase<Done | ApiError>>,
  left?: { token: string },
): Promise<Answer> {
  const { id, keyed } = identity
  const claim = claimOf(site.keys, service, identity, requested, left)
  const holdings = holdingsOf(site.keys, service, id)
  const write = { site, service, keyed, claim, holdings }
  let answer: Answer | ApiError
  try {
    const finish = await work({
      step: (of, holding) => step(write, of, holding),
      read: of => of(site.db),
      learn: of => step(write, of),
      note: claim.note,
      reference: id.replaceAll('-', ''),
      isKeyed: keyed !== undefined,
      isSettling: claim.isSettling,
      wasOpen: () => claim.wasOpen || claim.isSettling,
      isTrial: false,
    })
    answer = await inLastTransaction(write, finish)
  } catch (error) {
    throw await failed(write, error)
  } finally {
    holdings.letGo()
  }
  if (answer instanceof ApiError) throw answer
  return answer
}

/** A step, the first of which claims the write. */
async function step<T>(
  { site, service, claim, holdings }: UnderWay,
  of: (tx: Db) => Promise<T>,
  holding?: Holding,
): Promise<T> {
  const inStep = async (tx: Db) => {
    sendWithCommit(requireWritable(tx, service))
    if (!claim.isMade) await claim.begin(tx)
    const [isClaimed, areKept] = await Promise.all([claim.keeps(tx), holdings.keeps(tx)])
    if (!isClaimed || !areKept) throw new TakenOver()
    await holdings.take(tx, holding)
    return of(tx)
  }
  const done = await transact(site, service, inStep, { isResumable: true })
  holdings.taken(holding)
  claim.begun()
  return done
}

/** Ends the claim, where there is one, finishes, and keeps audit line and answer. */
async function inLastTransaction(write: UnderWay, finish: CommitPhase<Done | ApiError>): Promise<Answer | ApiError> {
  const { site, service, keyed, claim, holdings } = write
  /** Of an attempt whose commit nobody knows. */
  let answered: Answer | ApiError | undefined
  /** Of the last attempt, whatever became of it. */
  let proposed: Answer | ApiError | undefined
  const attempt = async (tx: Db, before: unknown) => {
    // What is known not to be kept is no answer.
    if (before instanceof CommitUnknown) answered = proposed ?? answered
    proposed = undefined
    const [areKept, isEnded] = await Promise.all([holdings.keeps(tx), claim.isMade && claim.end(tx)])
    if (claim.isMade && !isEnded) {
      if (keyed) await takeKey(tx, service, keyed)
      if (answered) return answered
      throw new TakenOver()
    }
    if (!areKept) throw new TakenOver()
    answered = undefined
    const done = await (keyed && !claim.isMade ? underKey(tx, service, keyed, finish) : finish(tx))
    proposed = done instanceof ApiError ? done : keep(tx, write, done)
    failpoint('before_commit')
    return proposed
  }
  return transact(site, service, attempt, { isResumable: keyed !== undefined || claim.isMade })
}

/** Nobody waits for the key: where it is not free nothing behind it is carried out, and what came of that is nobody's business. */
async function underKey<T>(tx: Db, service: Service, keyed: KeyedWrite, of: CommitPhase<T>): Promise<T> {
  const [taken, done] = [takeKey(tx, service, keyed), of(tx)]
  await Promise.allSettled([taken, done])
  await taken
  return done
}

/** Keeps audit line and answer, which go out with the commit. */
function keep(tx: Db, { site, service, keyed }: UnderWay, { answer, audited }: Done) {
  sendWithCommit(audited ? leaveAuditLine(tx, service, audited) : requireWritable(tx, service))
  if (keyed) sendWithCommit(keepAnswer(tx, site.keys, service, keyed, answer, audited?.subject))
  return answer
}

/** What is told of a write that failed; its claim is left as it has to be. */
async function failed({ site: { db, keys }, service, keyed, claim }: UnderWay, error: unknown): Promise<unknown> {
  if (keyed && isKeyUsed(error)) return whyUsed(db, keys, service, keyed)
  if (error instanceof TakenOver) return keyed && !claim.isSettling ? inProgress() : outcomeUnknown(error)
  await claim.leave(db, error)
  return claim.told(error)
}

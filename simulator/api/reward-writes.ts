import { created, ok } from '../http/answers.ts'
import { createRejection } from '../http/errors.ts'
import { type ApiRequest, whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import type { RewardAccount } from '../shop/sales.ts'
import { next } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { shape } from '../xml/order.ts'
import { type Payload, textAt } from '../xml/payload.ts'
import { today } from './persons.ts'
import { dayOf, posted } from './posted.ts'
import { accountElement, accountOf } from './rewards.ts'

// The order of creating and that of changing differ; one serves both.
const accountShape = shape('ProgramId|PersonId|TierId|TierLockedUntilDate')

/** Puts a person into a programme, in its first tier unless another is named. */
export function openAccount(
  world: World,
  { programId, personId, tierId }: { programId: number; personId: number; tierId?: number | undefined },
): RewardAccount {
  const { shop } = world
  const program = shop.programs.get(programId)
  if (!program) throw createRejection(5162)
  if (!shop.persons.has(personId)) throw createRejection(5166)
  if (shop.accountOfPerson.has(personId)) throw createRejection(5161)
  if (tierId !== undefined && !program.tiers.some(({ id }) => id === tierId)) throw createRejection(5159)
  const account: RewardAccount = {
    id: next(shop, 'account'),
    programId,
    personId,
    tierId: tierId ?? program.tiers[0]?.id ?? 0,
    tierLockedUntil: '',
    joined: today(world),
    tierJoined: today(world),
    spend: 0,
    points: [],
    rewards: [],
    gifts: [],
    transactions: [],
  }
  shop.accounts.set(account.id, account)
  shop.accountOfPerson.set(personId, account)
  world.note('reward account created', account.id, { person: personId })
  return account
}

const optional = (payload: Payload, name: string) => whole(textAt(payload, name))

export const createAccount: Handler = (request: ApiRequest, world) => {
  const payload = posted(request, world, 'RewardAccount', accountShape)
  const account = openAccount(world, {
    programId: optional(payload, 'ProgramId') ?? 0,
    personId: optional(payload, 'PersonId') ?? 0,
    tierId: optional(payload, 'TierId'),
  })
  account.tierLockedUntil = dayOf(payload, 'TierLockedUntilDate')
  return { ...created(request, `/Rewards/Accounts/${account.id}`), body: accountElement(account, world) }
}

/** Without a lock date the lock is lifted. */
export const updateAccount: Handler = (request, world) => {
  const account = accountOf(request, world)
  const payload = posted(request, world, 'RewardAccount', accountShape)
  const [personId, tierId] = [optional(payload, 'PersonId'), optional(payload, 'TierId')]
  if (personId !== undefined && !world.shop.persons.has(personId)) throw createRejection(5166)
  if ((world.shop.accountOfPerson.get(personId ?? account.personId) ?? account) !== account) throw createRejection(5161)
  const tiers = world.shop.programs.get(account.programId)?.tiers ?? []
  if (tierId !== undefined && !tiers.some(({ id }) => id === tierId)) throw createRejection(5159)
  account.tierLockedUntil = dayOf(payload, 'TierLockedUntilDate')
  if (personId !== undefined) {
    world.shop.accountOfPerson.delete(account.personId)
    world.shop.accountOfPerson.set(personId, account)
    account.personId = personId
  }
  if (tierId !== undefined && tierId !== account.tierId) Object.assign(account, { tierId, tierJoined: today(world) })
  world.note('reward account updated', account.id)
  return ok(accountElement(account, world))
}

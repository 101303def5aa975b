import { createRejection } from '../http/errors.ts'
import { type ApiRequest, parseInteger } from '../http/request.ts'
import { respondCreated, respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import type { RewardAccount } from '../shop/sales.ts'
import { createId } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { shape } from '../xml/order.ts'
import { findText, type Payload } from '../xml/payload.ts'
import { getToday } from './persons.ts'
import { readDay, readDocument } from './posted.ts'
import { buildAccount, requireAccount } from './rewards.ts'

// The order of the elements differs between create and update. This shape accepts both.
const accountShape = shape('ProgramId|PersonId|TierId|TierLockedUntilDate')

/** Opens a person's account in a program, in the first tier or in `tierId`. */
export function openAccount(
  world: World,
  { programId, personId, tierId }: { programId: number; personId: number; tierId?: number | undefined },
): RewardAccount {
  const { shop } = world
  const program = shop.programs.get(programId)
  if (!program) throw createRejection(5162)
  if (!shop.persons.has(personId)) throw createRejection(5166)
  if (shop.accountsByPerson.has(personId)) throw createRejection(5161)
  if (tierId !== undefined && !program.tiers.some(({ id }) => id === tierId)) throw createRejection(5159)
  const account: RewardAccount = {
    id: createId(shop, 'account'),
    programId,
    personId,
    tierId: tierId ?? program.tiers[0]?.id ?? 0,
    tierLockedUntil: '',
    joined: getToday(world),
    tierJoined: getToday(world),
    spend: 0,
    points: [],
    rewards: [],
    gifts: [],
    transactions: [],
  }
  shop.accounts.set(account.id, account)
  shop.accountsByPerson.set(personId, account)
  world.recordEffect('reward account created', account.id, { person: personId })
  return account
}

const readOptionalId = (payload: Payload, name: string) => parseInteger(findText(payload, name))

export const createAccount: Handler = (request: ApiRequest, world) => {
  const payload = readDocument(request, world, 'RewardAccount', accountShape)
  const account = openAccount(world, {
    programId: readOptionalId(payload, 'ProgramId') ?? 0,
    personId: readOptionalId(payload, 'PersonId') ?? 0,
    tierId: readOptionalId(payload, 'TierId'),
  })
  account.tierLockedUntil = readDay(payload, 'TierLockedUntilDate')
  return { ...respondCreated(request, `/Rewards/Accounts/${account.id}`), body: buildAccount(account, world) }
}

/** Updates an account. A missing lock date removes the tier lock. */
export const updateAccount: Handler = (request, world) => {
  const account = requireAccount(request, world)
  const payload = readDocument(request, world, 'RewardAccount', accountShape)
  const [personId, tierId] = [readOptionalId(payload, 'PersonId'), readOptionalId(payload, 'TierId')]
  if (personId !== undefined && !world.shop.persons.has(personId)) throw createRejection(5166)
  if ((world.shop.accountsByPerson.get(personId ?? account.personId) ?? account) !== account)
    throw createRejection(5161)
  const tiers = world.shop.programs.get(account.programId)?.tiers ?? []
  if (tierId !== undefined && !tiers.some(({ id }) => id === tierId)) throw createRejection(5159)
  account.tierLockedUntil = readDay(payload, 'TierLockedUntilDate')
  if (personId !== undefined) {
    world.shop.accountsByPerson.delete(account.personId)
    world.shop.accountsByPerson.set(personId, account)
    account.personId = personId
  }
  if (tierId !== undefined && tierId !== account.tierId) Object.assign(account, { tierId, tierJoined: getToday(world) })
  world.recordEffect('reward account updated', account.id)
  return respondOk(buildAccount(account, world))
}

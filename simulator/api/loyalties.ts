import { createRejection } from '../http/errors.ts'
import { whole } from '../http/request.ts'
import type { Loyalty, Person } from '../shop/records.ts'
import { next } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { every, type Payload, textAt } from '../xml/payload.ts'
import { today } from './persons.ts'
import { dayOf, text } from './posted.ts'

interface Holder {
  id: number
  loyalties: Loyalty[]
}

function typeIdOf(payload: Payload, { shop }: World): number {
  const type = textAt(payload, 'LoyaltyTypeId')
  if (!type) throw createRejection(5101)
  const id = whole(type)
  if (id === undefined) throw createRejection(5109, { detail: `LoyaltyTypeId ${type}` })
  if (!shop.referenceTypes.get(366)?.references.has(id)) throw createRejection(5106)
  return id
}

function cardNumberOf(payload: Payload, existing: Loyalty | undefined, world: World): string {
  const sent = textAt(payload, 'CardNo')
  if (sent === undefined) return existing?.cardNumber ?? `L1${String(next(world.shop, 'loyalty')).padStart(8, '0')}`
  if (sent === '') throw createRejection(5105)
  if (!/^(LM|L1)/.test(sent)) throw createRejection(5104)
  for (const person of world.shop.persons.values())
    for (const card of person.loyalties)
      if (card.active && card.id !== existing?.id && card.cardNumber === sent) throw createRejection(5102)
  return text(payload, 'CardNo', 250)
}

function readLoyalty(payload: Payload, holder: Holder, world: World): Loyalty {
  const id = whole(textAt(payload, 'Id'))
  const existing = id === undefined ? undefined : holder.loyalties.find(card => card.id === id)
  if (id !== undefined && !existing) throw createRejection(5106, { detail: `loyalty ${id}` })
  const typeId = typeIdOf(payload, world)
  if (holder.loyalties.some(card => card.active && card !== existing && card.typeId === typeId))
    throw createRejection(5103)
  return {
    id: existing?.id ?? next(world.shop, 'loyalty'),
    typeId,
    cardNumber: cardNumberOf(payload, existing, world),
    expiry: dayOf(payload, 'Expiry'),
    balance: text(payload, 'Balance', 20),
    creditStatus: text(payload, 'CreditStatus', 30),
    message: text(payload, 'Message', 250),
    joinDate: dayOf(payload, 'JoinDate') || (existing?.joinDate ?? today(world)),
    statusId: text(payload, 'StatusId', 22),
    active: true,
  }
}

/**
 * The loyalties after a payload: those that it has are added or changed. Those that it does not have stay as they are
 * up to payload version 2, and from 3 on are made inactive.
 */
export function loyaltiesAfter(payload: Payload, person: Person | undefined, version: number, world: World): Loyalty[] {
  const holder: Holder = { id: person?.id ?? 0, loyalties: [...(person?.loyalties ?? [])] }
  const sent = every(
    payload.children.find(child => child.name === 'Loyalties'),
    'Loyalty',
  ).map(element => {
    const loyalty = readLoyalty(element, holder, world)
    holder.loyalties = [...holder.loyalties.filter(card => card.id !== loyalty.id), loyalty]
    return loyalty
  })
  if (version < 3) return holder.loyalties
  return holder.loyalties.map(card => (sent.includes(card) ? card : { ...card, active: false }))
}

import { createRejection } from '../http/errors.ts'
import { parseInteger } from '../http/request.ts'
import type { Loyalty, Person } from '../shop/records.ts'
import { createId } from '../shop/shop.ts'
import type { World } from '../world/world.ts'
import { findElements, findText, type Payload } from '../xml/payload.ts'
import { getToday } from './persons.ts'
import { readDay, readText } from './posted.ts'

interface Holder {
  id: number
  loyalties: Loyalty[]
}

function readTypeId(payload: Payload, { shop }: World): number {
  const type = findText(payload, 'LoyaltyTypeId')
  if (!type) throw createRejection(5101)
  const id = parseInteger(type)
  if (id === undefined) throw createRejection(5109, { detail: `LoyaltyTypeId ${type}` })
  if (!shop.referenceTypes.get(366)?.references.has(id)) throw createRejection(5106)
  return id
}

function readCardNumber(payload: Payload, existing: Loyalty | undefined, world: World): string {
  const postedNumber = findText(payload, 'CardNo')
  if (postedNumber === undefined)
    return existing?.cardNumber ?? `L1${String(createId(world.shop, 'loyalty')).padStart(8, '0')}`
  if (postedNumber === '') throw createRejection(5105)
  if (!/^(LM|L1)/.test(postedNumber)) throw createRejection(5104)
  for (const person of world.shop.persons.values())
    for (const card of person.loyalties)
      if (card.active && card.id !== existing?.id && card.cardNumber === postedNumber) throw createRejection(5102)
  return readText(payload, 'CardNo', 250)
}

function readLoyalty(payload: Payload, holder: Holder, world: World): Loyalty {
  const id = parseInteger(findText(payload, 'Id'))
  const existing = id === undefined ? undefined : holder.loyalties.find(card => card.id === id)
  if (id !== undefined && !existing) throw createRejection(5106, { detail: `loyalty ${id}` })
  const typeId = readTypeId(payload, world)
  if (holder.loyalties.some(card => card.active && card !== existing && card.typeId === typeId))
    throw createRejection(5103)
  return {
    id: existing?.id ?? createId(world.shop, 'loyalty'),
    typeId,
    cardNumber: readCardNumber(payload, existing, world),
    expiry: readDay(payload, 'Expiry'),
    balance: readText(payload, 'Balance', 20),
    creditStatus: readText(payload, 'CreditStatus', 30),
    message: readText(payload, 'Message', 250),
    joinDate: readDay(payload, 'JoinDate') || (existing?.joinDate ?? getToday(world)),
    statusId: readText(payload, 'StatusId', 22),
    active: true,
  }
}

/**
 * Returns a person's loyalties after a write: posted loyalties are added or changed. Up to payload version 2, missing loyalties stay.
 * From version 3, they become inactive.
 */
export function mergeLoyalties(payload: Payload, person: Person | undefined, version: number, world: World): Loyalty[] {
  const holder: Holder = { id: person?.id ?? 0, loyalties: [...(person?.loyalties ?? [])] }
  const postedLoyalties = findElements(
    payload.children.find(child => child.name === 'Loyalties'),
    'Loyalty',
  ).map(element => {
    const loyalty = readLoyalty(element, holder, world)
    holder.loyalties = [...holder.loyalties.filter(card => card.id !== loyalty.id), loyalty]
    return loyalty
  })
  if (version < 3) return holder.loyalties
  return holder.loyalties.map(card => (postedLoyalties.includes(card) ? card : { ...card, active: false }))
}

import { createRejection } from '../http/errors.ts'
import { parseWall } from '../shop/clock.ts'
import type { Card } from '../shop/records.ts'
import { findElement, findElements, type Payload } from '../xml/payload.ts'

type FieldType = 'CheckBox' | 'Text' | 'Date' | 'Number' | 'List'

/** The template of the custom data of persons. */
export const template: { name: string; cards: Record<string, Record<string, FieldType>> } = {
  name: 'Person',
  cards: {
    Marketing: { EmailOptIn: 'CheckBox', SmsOptIn: 'CheckBox', Interests: 'List' },
    Web: { AccountId: 'Text', LastVisit: 'Date', Visits: 'Number' },
  },
}

function requireValid(type: FieldType, value: string): string {
  if (value === '') return value
  if (value.length > 250) throw createRejection(5197)
  if (type === 'CheckBox' && !/^(true|false)$/i.test(value)) throw createRejection(5195, { detail: value })
  if (type === 'Date' && parseWall(value) === undefined) throw createRejection(5195, { detail: value })
  if (type === 'Number' && !/^-?\d+(\.\d+)?$/.test(value)) throw createRejection(5195, { detail: value })
  return value
}

/** Reads the posted cards with the posted fields of each. Throws an error response if a card, field or value is invalid. */
export function readCustomData(person: Payload): Map<string, Card> {
  const cards = new Map<string, Card>()
  for (const card of findElements(findElement(person, 'CustomData', 'Cards'), 'Card')) {
    const name = card.attributes.Name ?? ''
    const definition = Object.hasOwn(template.cards, name) ? template.cards[name] : undefined
    if (!definition) throw createRejection(5193, { detail: name })
    const fields: Card = new Map()
    for (const field of findElements(findElement(card, 'Fields'), 'Field')) {
      const fieldName = field.attributes.Name ?? ''
      const type = Object.hasOwn(definition, fieldName) ? definition[fieldName] : undefined
      if (!type) throw createRejection(5194, { detail: fieldName })
      const listValues = findElements(findElement(field, 'ListValues'), 'Value').map(value => value.text)
      const values = listValues.length ? listValues : [field.text]
      fields.set(
        fieldName,
        values.map(value => requireValid(type, value)).filter(value => value !== ''),
      )
    }
    cards.set(name, fields)
  }
  return cards
}

/** Merges posted cards into stored ones. A posted field replaces the stored field, and an empty field clears it. Missing fields stay. */
export function mergeCustomData(storedCards: Map<string, Card>, sentCards: Map<string, Card>): void {
  for (const [name, fields] of sentCards) {
    const card: Card = storedCards.get(name) ?? new Map()
    for (const [field, values] of fields)
      if (values.length) card.set(field, values)
      else card.delete(field)
    storedCards.set(name, card)
  }
}

import { createRejection } from '../http/errors.ts'
import { readWall } from '../shop/clock.ts'
import type { Card } from '../shop/records.ts'
import { at, every, type Payload } from '../xml/payload.ts'

type FieldType = 'CheckBox' | 'Text' | 'Date' | 'Number' | 'List'

/** The custom data of this shop's persons. */
export const template: { name: string; cards: Record<string, Record<string, FieldType>> } = {
  name: 'Person',
  cards: {
    Marketing: { EmailOptIn: 'CheckBox', SmsOptIn: 'CheckBox', Interests: 'List' },
    Web: { AccountId: 'Text', LastVisit: 'Date', Visits: 'Number' },
  },
}

function checked(type: FieldType, value: string): string {
  if (value === '') return value
  if (value.length > 250) throw createRejection(5197)
  if (type === 'CheckBox' && !/^(true|false)$/i.test(value)) throw createRejection(5195, { detail: value })
  if (type === 'Date' && readWall(value) === undefined) throw createRejection(5195, { detail: value })
  if (type === 'Number' && !/^-?\d+(\.\d+)?$/.test(value)) throw createRejection(5195, { detail: value })
  return value
}

/** The posted cards, checked; the fields of each card that were sent. */
export function readCustomData(person: Payload): Map<string, Card> {
  const cards = new Map<string, Card>()
  for (const card of every(at(person, 'CustomData', 'Cards'), 'Card')) {
    const name = card.attributes.Name ?? ''
    const definition = Object.hasOwn(template.cards, name) ? template.cards[name] : undefined
    if (!definition) throw createRejection(5193, { detail: name })
    const fields: Card = new Map()
    for (const field of every(at(card, 'Fields'), 'Field')) {
      const fieldName = field.attributes.Name ?? ''
      const type = Object.hasOwn(definition, fieldName) ? definition[fieldName] : undefined
      if (!type) throw createRejection(5194, { detail: fieldName })
      const listed = every(at(field, 'ListValues'), 'Value').map(value => value.text)
      const values = listed.length ? listed : [field.text]
      fields.set(
        fieldName,
        values.map(value => checked(type, value)).filter(value => value !== ''),
      )
    }
    cards.set(name, fields)
  }
  return cards
}

/** A posted field replaces the stored one, an empty field clears it, and missing fields stay. */
export function mergeCustomData(into: Map<string, Card>, sent: Map<string, Card>): void {
  for (const [name, fields] of sent) {
    const card: Card = into.get(name) ?? new Map()
    for (const [field, values] of fields)
      if (values.length) card.set(field, values)
      else card.delete(field)
    into.set(name, card)
  }
}

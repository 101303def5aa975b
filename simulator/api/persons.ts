import { type Answer, ok } from '../http/answers.ts'
import { type Asking, whole } from '../http/asking.ts'
import { createRejection, nothing } from '../http/errors.ts'
import { paged, wholeList } from '../http/paging.ts'
import type { Handler } from '../http/router.ts'
import { dateText, isoText, readWall } from '../shop/clock.ts'
import type { Person } from '../shop/records.ts'
import { has, isAfter, type World } from '../world/world.ts'
import { array, el, fields } from '../xml/element.ts'
import { template } from './custom-data.ts'
import { personElement } from './person-xml.ts'

/** The person in the path. */
export function personOf({ parameters }: Asking, { shop }: World): Person {
  const person = shop.persons.get(whole(parameters[0]) ?? 0)
  if (!person) throw nothing()
  return person
}

const wantsCustomData = (asking: Asking, world: World) =>
  asking.version >= 2 && asking.query('CustomData')?.toLowerCase() === 'true' && has(world, 'personCustomData')

export const onePerson: Handler = (asking, world) =>
  ok(personElement(personOf(asking, world), world.shop, { customData: wantsCustomData(asking, world) }))

/** The one place where a person's stamp is in ISO form. */
export const personTimeStamp: Handler = (asking, world) => {
  const { id, updated } = personOf(asking, world)
  return ok(el('PersonUpdateTimeStamp', fields({ PersonId: id, UpdateTimeStamp: isoText(updated) })))
}

type Test = (person: Person) => boolean

const isText = (text: string, wanted: string) => text.trim().toLowerCase() === wanted.trim().toLowerCase()
const startsWith = (text: string, wanted: string) => text.toLowerCase().startsWith(wanted.trim().toLowerCase())

/** How each filter picks persons; beginnings of names, all else whole. */
const filters: Record<string, (wanted: string) => Test> = {
  surname: wanted => person => startsWith(person.surname, wanted),
  firstname: wanted => person => startsWith(person.firstname, wanted),
  phone: wanted => person => [person.home, person.mobile, person.work].includes(wanted),
  email: wanted => person => isText(person.email, wanted),
  code: wanted => person => isText(person.code, wanted),
  password: wanted => person => person.password === wanted,
  loyaltyonly: wanted => person => wanted.toLowerCase() !== 'true' || person.loyalties.some(card => card.active),
}

/** Below 2022.1 `UpdatedAfter` is not known, and so not heeded: the answer has everybody. */
function changed(asking: Asking, world: World): Test {
  const text = asking.query('UpdatedAfter')
  if (text === undefined || !has(world, 'personsUpdatedAfter')) return () => true
  const since = readWall(text)
  if (since === undefined) throw createRejection(5144, { detail: text })
  return person => isAfter(world, person.updated, since)
}

/** Persons by filters, all of which must fit. */
export const findPersons: Handler = (asking, world): Answer => {
  const { shop, settings } = world
  const tests = Object.entries(filters).flatMap(([name, test]) => {
    const wanted = asking.query(name)
    return wanted ? [test(wanted)] : []
  })
  tests.push(changed(asking, world))
  const found = [...shop.persons.values()].filter(person => tests.every(test => test(person)))
  const [first] = found
  if (!first) throw nothing()
  if (found.length > 1 && asking.query('password')) throw createRejection(5013)
  const shown = { customData: wantsCustomData(asking, world) }
  if (found.length === 1 && settings.onePersonRoot === 'Person') return ok(personElement(first, shop, shown))
  const row = (person: Person) => personElement(person, shop, shown)
  if (!has(world, 'personsPaging')) return ok(el('Persons', found.values().map(row)))
  return paged(asking, world, { name: 'Persons', rows: found, row, unpaged: wholeList })
}

/** The definitions of custom data. */
export const personTemplates: Handler = ({ parameters }, world) => {
  if (!has(world, 'personCustomData') || (parameters[0] && !isText(parameters[0], template.name)))
    throw createRejection(5206)
  const cards = Object.entries(template.cards).map(([card, known]) =>
    el(
      'Card',
      [
        array(
          'Fields',
          Object.entries(known).map(([field, type]) => el('Field', undefined, { Name: field, Type: type })),
        ),
      ],
      { Name: card },
    ),
  )
  return ok(el('Templates', [el('Template', [array('Cards', cards)], { Name: template.name })], { Type: 'Array' }))
}

/** Today in Apparel21's time zone. */
export const today = (world: World) => dateText(world.clock.wall())

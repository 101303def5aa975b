import { type Answer, ok } from '../http/answers.ts'
import { createRejection, nothing } from '../http/errors.ts'
import { paged, wholeList } from '../http/paging.ts'
import { type ApiRequest, whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import { dateText, isoText, readWall } from '../shop/clock.ts'
import type { Person } from '../shop/records.ts'
import { has, isAfter, type World } from '../world/world.ts'
import { array, el, fields } from '../xml/element.ts'
import { template } from './custom-data.ts'
import { personElement } from './person-xml.ts'

/** The person in the path. */
export function personOf({ parameters }: ApiRequest, { shop }: World): Person {
  const person = shop.persons.get(whole(parameters[0]) ?? 0)
  if (!person) throw nothing()
  return person
}

const wantsCustomData = (request: ApiRequest, world: World) =>
  request.version >= 2 && request.query('CustomData')?.toLowerCase() === 'true' && has(world, 'personCustomData')

export const onePerson: Handler = (request, world) =>
  ok(personElement(personOf(request, world), world.shop, { customData: wantsCustomData(request, world) }))

/** The only call that returns a person's change timestamp in ISO form. */
export const personTimeStamp: Handler = (request, world) => {
  const { id, updated } = personOf(request, world)
  return ok(el('PersonUpdateTimeStamp', fields({ PersonId: id, UpdateTimeStamp: isoText(updated) })))
}

type Test = (person: Person) => boolean

const isText = (text: string, value: string) => text.trim().toLowerCase() === value.trim().toLowerCase()
const startsWith = (text: string, value: string) => text.toLowerCase().startsWith(value.trim().toLowerCase())

/** The filters for persons. Names match by prefix, other fields exactly. */
const filters: Record<string, (value: string) => Test> = {
  surname: value => person => startsWith(person.surname, value),
  firstname: value => person => startsWith(person.firstname, value),
  phone: value => person => [person.home, person.mobile, person.work].includes(value),
  email: value => person => isText(person.email, value),
  code: value => person => isText(person.code, value),
  password: value => person => person.password === value,
  loyaltyonly: value => person => value.toLowerCase() !== 'true' || person.loyalties.some(card => card.active),
}

/** Releases before 2022.1 ignore `UpdatedAfter` and return all persons. */
function changed(request: ApiRequest, world: World): Test {
  const text = request.query('UpdatedAfter')
  if (text === undefined || !has(world, 'personsUpdatedAfter')) return () => true
  const since = readWall(text)
  if (since === undefined) throw createRejection(5144, { detail: text })
  return person => isAfter(world, person.updated, since)
}

/** Returns the persons that match all filters. */
export const findPersons: Handler = (request, world): Answer => {
  const { shop, settings } = world
  const tests = Object.entries(filters).flatMap(([name, test]) => {
    const value = request.query(name)
    return value ? [test(value)] : []
  })
  tests.push(changed(request, world))
  const persons = [...shop.persons.values()].filter(person => tests.every(test => test(person)))
  const [first] = persons
  if (!first) throw nothing()
  if (persons.length > 1 && request.query('password')) throw createRejection(5013)
  const shown = { customData: wantsCustomData(request, world) }
  if (persons.length === 1 && settings.onePersonRoot === 'Person') return ok(personElement(first, shop, shown))
  const row = (person: Person) => personElement(person, shop, shown)
  if (!has(world, 'personsPaging')) return ok(el('Persons', persons.values().map(row)))
  return paged(request, world, { name: 'Persons', rows: persons, row, unpaged: wholeList })
}

export const personTemplates: Handler = ({ parameters }, world) => {
  if (!has(world, 'personCustomData') || (parameters[0] && !isText(parameters[0], template.name)))
    throw createRejection(5206)
  const cards = Object.entries(template.cards).map(([card, types]) =>
    el(
      'Card',
      [
        array(
          'Fields',
          Object.entries(types).map(([field, type]) => el('Field', undefined, { Name: field, Type: type })),
        ),
      ],
      { Name: card },
    ),
  )
  return ok(el('Templates', [el('Template', [array('Cards', cards)], { Name: template.name })], { Type: 'Array' }))
}

/** Today in Apparel21's time zone. */
export const today = (world: World) => dateText(world.clock.wall())

import { createNoDataError, createRejection } from '../http/errors.ts'
import { completeList, respondPaged } from '../http/paging.ts'
import { type ApiRequest, parseInteger } from '../http/request.ts'
import { type ApiResponse, respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import { formatDate, formatIso, parseWall } from '../shop/clock.ts'
import type { Person } from '../shop/records.ts'
import { hasFeature, isAfter, type World } from '../world/world.ts'
import { array, el, fields } from '../xml/element.ts'
import { template } from './custom-data.ts'
import { buildPerson } from './person-xml.ts'

/** Returns the person in the path. Throws "no data found" if it does not exist. */
export function requirePerson({ parameters }: ApiRequest, { shop }: World): Person {
  const person = shop.persons.get(parseInteger(parameters[0]) ?? 0)
  if (!person) throw createNoDataError()
  return person
}

const wantsCustomData = (request: ApiRequest, world: World) =>
  request.version >= 2 && request.query('CustomData')?.toLowerCase() === 'true' && hasFeature(world, 'personCustomData')

export const getPerson: Handler = (request, world) =>
  respondOk(buildPerson(requirePerson(request, world), world.shop, { customData: wantsCustomData(request, world) }))

/** Returns a person's change timestamp. Only this call uses the ISO form. */
export const getPersonTimestamp: Handler = (request, world) => {
  const { id, updated } = requirePerson(request, world)
  return respondOk(el('PersonUpdateTimeStamp', fields({ PersonId: id, UpdateTimeStamp: formatIso(updated) })))
}

type PersonFilter = (person: Person) => boolean

const equalsText = (text: string, value: string) => text.trim().toLowerCase() === value.trim().toLowerCase()
const startsWith = (text: string, value: string) => text.toLowerCase().startsWith(value.trim().toLowerCase())

/** The filters for persons. Names match by prefix, other fields exactly. */
const filters: Record<string, (value: string) => PersonFilter> = {
  surname: value => person => startsWith(person.surname, value),
  firstname: value => person => startsWith(person.firstname, value),
  phone: value => person => [person.home, person.mobile, person.work].includes(value),
  email: value => person => equalsText(person.email, value),
  code: value => person => equalsText(person.code, value),
  password: value => person => person.password === value,
  loyaltyonly: value => person => value.toLowerCase() !== 'true' || person.loyalties.some(card => card.active),
}

/** Releases before 2022.1 ignore `UpdatedAfter` and return all persons. */
function createChangeFilter(request: ApiRequest, world: World): PersonFilter {
  const text = request.query('UpdatedAfter')
  if (text === undefined || !hasFeature(world, 'personsUpdatedAfter')) return () => true
  const since = parseWall(text)
  if (since === undefined) throw createRejection(5144, { detail: text })
  return person => isAfter(world, person.updated, since)
}

/** Returns the persons that match all filters. */
export const findPersons: Handler = (request, world): ApiResponse => {
  const { shop, settings } = world
  const tests = Object.entries(filters).flatMap(([name, test]) => {
    const value = request.query(name)
    return value ? [test(value)] : []
  })
  tests.push(createChangeFilter(request, world))
  const persons = [...shop.persons.values()].filter(person => tests.every(test => test(person)))
  const [first] = persons
  if (!first) throw createNoDataError()
  if (persons.length > 1 && request.query('password')) throw createRejection(5013)
  const parts = { customData: wantsCustomData(request, world) }
  if (persons.length === 1 && settings.onePersonRoot === 'Person') return respondOk(buildPerson(first, shop, parts))
  const buildRow = (person: Person) => buildPerson(person, shop, parts)
  if (!hasFeature(world, 'personsPaging')) return respondOk(el('Persons', persons.values().map(buildRow)))
  return respondPaged(request, world, { name: 'Persons', rows: persons, row: buildRow, unpaged: completeList })
}

export const listPersonTemplates: Handler = ({ parameters }, world) => {
  if (!hasFeature(world, 'personCustomData') || (parameters[0] && !equalsText(parameters[0], template.name)))
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
  return respondOk(
    el('Templates', [el('Template', [array('Cards', cards)], { Name: template.name })], { Type: 'Array' }),
  )
}

/** Returns today's date in Apparel21's time zone. */
export const getToday = (world: World) => formatDate(world.clock.wall())

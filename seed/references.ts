import { categories } from './catalogue/categories.ts'
import { shops } from './places.ts'
import { seasons } from './products.ts'

export const ageGroups = [
  { code: 'U25', name: 'Under 25', upTo: 24 },
  { code: '25-34', name: '25-34', upTo: 34 },
  { code: '35-44', name: '35-44', upTo: 44 },
  { code: '45-54', name: '45-54', upTo: 54 },
  { code: '55-64', name: '55-64', upTo: 64 },
  { code: '65+', name: '65 and over', upTo: 200 },
] as const

export const interests = ['Running', 'Hiking', 'Yoga', 'Workwear', 'Weekend', 'Travel', 'Mending', 'Vintage'] as const

const sortUnique = (values: readonly string[]) => [...new Set(values)].sort()

const toCapitals = (name: string) =>
  name
    .normalize('NFD')
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')

/** Each reference type with the ID of its first value, and its values. */
const types: Record<string, { first: number; names: readonly string[]; codes?: readonly string[] }> = {
  brand: { first: 1101, names: sortUnique(categories.flatMap(category => category.brands)) },
  season: { first: 1201, names: seasons },
  gender: { first: 1301, names: ['Women', 'Men', 'Unisex'] },
  fabric: {
    first: 1401,
    names: sortUnique(
      categories.flatMap(({ fabrics, nouns }) => [...fabrics, ...nouns.flatMap(([, , fabric]) => fabric ?? [])]),
    ),
  },
  category: { first: 1501, names: categories.map(category => category.name) },
  favouriteStore: { first: 4401, names: shops.map(shop => shop.name), codes: shops.map(shop => shop.code) },
  ageGroup: { first: 4501, names: ageGroups.map(group => group.name), codes: ageGroups.map(group => group.code) },
  interest: { first: 4601, names: interests },
  emailNews: { first: 4701, names: ['E-mails', 'No e-mails'], codes: ['YES', 'NO'] },
  smsNews: { first: 4711, names: ['Text messages', 'No text messages'], codes: ['YES', 'NO'] },
}

/** Builds the reference values as rows for `upsertReferences`. */
export const buildReferenceRows = () =>
  Object.entries(types).flatMap(([type, { first, names, codes }]) =>
    names.map((name, i) => ({
      type,
      referenceValueId: String(first + i),
      code: codes?.[i] ?? toCapitals(name).slice(0, 12),
      name: capitalize(name),
    })),
  )

const capitalize = (name: string) => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`

/** The reference values that represent the subscriptions of a customer. */
export const subscriptionMapping = {
  email: {
    type: 'emailNews',
    yes: findReferenceId('emailNews', 'E-mails'),
    no: findReferenceId('emailNews', 'No e-mails'),
  },
  sms: {
    type: 'smsNews',
    yes: findReferenceId('smsNews', 'Text messages'),
    no: findReferenceId('smsNews', 'No text messages'),
  },
}

/** Returns the ID of a reference value by its name. Throws if there is none. */
export function findReferenceId(type: string, name: string) {
  const { first, names } = types[type] ?? { first: 0, names: [] }
  const index = names.indexOf(name)
  if (index < 0) throw new Error(`${type} ${name} not found`)
  return String(first + index)
}

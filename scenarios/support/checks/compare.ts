import { type CheckResult, check } from '../expectations/check.ts'
import type { Expected } from '../expectations/expected.ts'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Lists the paths at which two values differ, with both values. Fields that aren't expected are ignored. */
export function listDifferences(expected: unknown, found: unknown, path = ''): string[] {
  if (isObject(expected) && isObject(found))
    return Object.entries(expected).flatMap(([name, value]) => listDifferences(value, found[name], `${path}/${name}`))
  if (Array.isArray(expected) && Array.isArray(found) && expected.length === found.length)
    return sortById(expected).flatMap((value, i) => listDifferences(value, sortById(found)[i], `${path}/${i}`))
  const [expectedJson, actual] = [expected, found].map(value => JSON.stringify(value))
  return expectedJson === actual ? [] : [`${path} is ${actual}, not ${expectedJson}`]
}

/** Sorts records by ID: their order isn't compared here. */
function sortById(list: readonly unknown[]): readonly unknown[] {
  const key = (value: unknown) => (isObject(value) ? String(value.id ?? value.skuId) : JSON.stringify(value))
  return list.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** Checks that a list has the expected records, all of them, and no others. */
export function checkList(name: string, expected: Expected, matches: readonly object[], id = 'id'): CheckResult {
  const actual = new Map(matches.map(record => [String((record as Record<string, unknown>)[id]), record]))
  const wrong = [
    ...[...expected].flatMap(([key, record]) => {
      const match = actual.get(key)
      if (!match) return [`${key} is missing`]
      return listDifferences(record, match).map(difference => `${key}${difference}`)
    }),
    ...[...actual.keys()].filter(key => !expected.has(key)).map(key => `${key} was removed at the back office`),
    ...(actual.size < matches.length ? ['a record is listed twice'] : []),
  ]
  return check(`${name}: the list equals the back office, record by record`, wrong, expected.size)
}

/** Lists what is in one of two lists only. */
export function compareKeys(expected: readonly string[], matches: readonly string[]): string[] {
  const [wanted, actual] = [new Set(expected), new Set(matches)]
  return [
    ...[...wanted].filter(key => !actual.has(key)).map(key => `${key} is missing`),
    ...[...actual].filter(key => !wanted.has(key)).map(key => `${key} is unexpected`),
  ]
}

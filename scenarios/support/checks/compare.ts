import { type CheckResult, check } from '../expectations/check.ts'
import type { Expected } from '../expectations/expected.ts'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Lists the paths at which two values differ, with both values. Fields that aren't expected are ignored. */
export function listDifferences(expected: unknown, actual: unknown, path = ''): string[] {
  if (isObject(expected) && isObject(actual))
    return Object.entries(expected).flatMap(([name, value]) => listDifferences(value, actual[name], `${path}/${name}`))
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length)
    return sortById(expected).flatMap((value, i) => listDifferences(value, sortById(actual)[i], `${path}/${i}`))
  const [expectedJson, actualJson] = [expected, actual].map(value => JSON.stringify(value))
  return expectedJson === actualJson ? [] : [`${path} is ${actualJson}, not ${expectedJson}`]
}

/** Sorts records by ID: their order isn't compared here. */
function sortById(list: readonly unknown[]): readonly unknown[] {
  const toKey = (value: unknown) => (isObject(value) ? String(value.id ?? value.skuId) : JSON.stringify(value))
  return list.toSorted((a, b) => (toKey(a) < toKey(b) ? -1 : 1))
}

/** Checks that a list has exactly the expected records. */
export function checkList(name: string, expected: Expected, records: readonly object[], id = 'id'): CheckResult {
  const actual = new Map(records.map(record => [String((record as Record<string, unknown>)[id]), record]))
  const wrong = [
    ...[...expected].flatMap(([key, record]) => {
      const match = actual.get(key)
      if (!match) return [`${key} is missing`]
      return listDifferences(record, match).map(difference => `${key}${difference}`)
    }),
    ...[...actual.keys()].filter(key => !expected.has(key)).map(key => `${key} was removed at the back office`),
    ...(actual.size < records.length ? ['a record is listed twice'] : []),
  ]
  return check(`${name}: the list equals the back office, record by record`, wrong, expected.size)
}

/** Lists the keys that are in only one of two lists. */
export function compareKeys(expected: readonly string[], actual: readonly string[]): string[] {
  const [expectedKeys, actualKeys] = [new Set(expected), new Set(actual)]
  return [
    ...[...expectedKeys].filter(key => !actualKeys.has(key)).map(key => `${key} is missing`),
    ...[...actualKeys].filter(key => !expectedKeys.has(key)).map(key => `${key} is unexpected`),
  ]
}

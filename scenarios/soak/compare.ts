import { type Verdict, verdict } from '../support/verdict.ts'
import type { Expected } from './expected.ts'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Where two values differ, as paths with both; of an object only what is expected, all the same in lists. */
export function differences(expected: unknown, found: unknown, path = ''): string[] {
  if (isObject(expected) && isObject(found))
    return Object.entries(expected).flatMap(([name, value]) => differences(value, found[name], `${path}/${name}`))
  if (Array.isArray(expected) && Array.isArray(found) && expected.length === found.length)
    return inOrder(expected).flatMap((value, i) => differences(value, inOrder(found)[i], `${path}/${i}`))
  const [theirs, ours] = [expected, found].map(value => JSON.stringify(value))
  return theirs === ours ? [] : [`${path} is ${ours}, not ${theirs}`]
}

/** Lists of records are compared in the order of their identifiers: how they are sorted is told elsewhere. */
function inOrder(list: readonly unknown[]): readonly unknown[] {
  const key = (value: unknown) => (isObject(value) ? String(value.id ?? value.skuId) : JSON.stringify(value))
  return list.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** Holds a list against what it has to be: nothing missing, nothing more, each record the same. */
export function judgeList(what: string, expected: Expected, found: readonly object[], id = 'id'): Verdict {
  const ours = new Map(found.map(record => [String((record as Record<string, unknown>)[id]), record]))
  const wrong = [
    ...[...expected].flatMap(([key, record]) => {
      const mine = ours.get(key)
      if (!mine) return [`${key} is missing`]
      return differences(record, mine).map(difference => `${key}${difference}`)
    }),
    ...[...ours.keys()].filter(key => !expected.has(key)).map(key => `${key} is not there any more`),
    ...(ours.size < found.length ? ['a record comes twice'] : []),
  ]
  return verdict(`${what}: the list is the simulator's, record by record`, wrong, expected.size)
}

/** What stands in one list only. */
export function difference(expected: readonly string[], found: readonly string[]): string[] {
  const [theirs, ours] = [new Set(expected), new Set(found)]
  return [
    ...[...theirs].filter(key => !ours.has(key)).map(key => `${key} is missing`),
    ...[...ours].filter(key => !theirs.has(key)).map(key => `${key} is nobody's`),
  ]
}

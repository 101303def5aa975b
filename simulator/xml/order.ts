import type { Payload } from './payload.ts'

/** The elements that a posted payload may have, and their order. */
export interface Shape {
  rank: ReadonlyMap<string, number>
  parts: Readonly<Record<string, Shape>>
}

/**
 * `shape('Id Code A|B ~Tax', { Code: … })`: A and B may change places, Tax may stand anywhere (the guide disagrees
 * with itself about those), everything else only in this order.
 */
export function shape(order: string, parts: Readonly<Record<string, Shape>> = {}): Shape {
  const rank = order
    .split(' ')
    .flatMap((group, i) =>
      group
        .split('|')
        .map(name => (name.startsWith('~') ? ([name.slice(1), Number.NaN] as const) : ([name, i] as const))),
    )
  return { rank: new Map(rank), parts }
}

/**
 * Returns a payload without unknown or misspelt elements, which are ignored. Calls `misplaced` for elements out of order,
 * which can throw. Otherwise they are dropped.
 */
export function keepExpectedElements(
  payload: Payload,
  expected: Shape,
  misplaced: (name: string, after: string) => 'keep' | 'drop',
): Payload {
  let reached = { rank: -1, name: '' }
  const children: Payload[] = []
  for (const child of payload.children) {
    const rank = expected.rank.get(child.name)
    if (rank === undefined) continue
    if (rank < reached.rank && misplaced(child.name, reached.name) === 'drop') continue
    if (rank > reached.rank) reached = { rank, name: child.name }
    const part = expected.parts[child.name]
    children.push(part ? keepExpectedElements(child, part, misplaced) : child)
  }
  return { ...payload, children }
}

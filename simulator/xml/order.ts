import type { Payload } from './payload.ts'

/** The elements that a posted payload can have, and their order. */
export interface Shape {
  rank: ReadonlyMap<string, number>
  parts: Readonly<Record<string, Shape>>
}

/**
 * Creates a shape: `shape('Id Code A|B ~Tax', { Code: … })`. A and B can change places and Tax can be anywhere, because the guide is
 * inconsistent about such elements. All others must be in this order.
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
 * Returns a payload without unknown or misspelt elements. Calls `onMisplaced` for each element out of order, which decides whether the
 * element is kept or dropped, or throws.
 */
export function keepExpectedElements(
  payload: Payload,
  expected: Shape,
  onMisplaced: (name: string, after: string) => 'keep' | 'drop',
): Payload {
  let reached = { rank: -1, name: '' }
  const children: Payload[] = []
  for (const child of payload.children) {
    const rank = expected.rank.get(child.name)
    if (rank === undefined) continue
    if (rank < reached.rank && onMisplaced(child.name, reached.name) === 'drop') continue
    if (rank > reached.rank) reached = { rank, name: child.name }
    const part = expected.parts[child.name]
    children.push(part ? keepExpectedElements(child, part, onMisplaced) : child)
  }
  return { ...payload, children }
}

/** A unit in its steps, from small to large: from so much on a figure is told in it, and what it is divided by. */
type Steps = readonly (readonly [from: number, name: string])[]

const second: Steps = [
  [1e-6, ' µs'],
  [1e-3, ' ms'],
  [1, ' s'],
  [60, ' min'],
  [3_600, ' h'],
  [86_400, ' d'],
]
const counted = (name: string): Steps => [
  [1, name],
  [1e3, ` K${name}`],
  [1e6, ` M${name}`],
]
/** Grafana's names of units, as far as the dashboard uses them. */
const units: Record<string, Steps> = {
  s: second,
  reqps: counted(' req/s'),
  ops: counted(' ops/s'),
  short: counted(''),
  percentunit: [[0.01, ' %']],
  bytes: ['B', 'KiB', 'MiB', 'GiB', 'TiB'].map((name, i) => [1024 ** i, ` ${name}`] as const),
}

/** The step of its unit in which a figure is told. */
function stepOf(unit: string, figure: number) {
  const steps = units[unit]
  if (!steps?.[0]) throw new Error(`${unit} is a unit that is not drawn.`)
  // What is less than the least is told in that; nothing at all in whole seconds.
  return steps.findLast(([from]) => Math.abs(figure) >= from) ?? (unit === 's' ? ([1, ' s'] as const) : steps[0])
}

/** A figure in the short form of its unit: `250 ms`, `1.5 GiB`. */
export function told(unit: string, figure: number): string {
  const [from, name] = stepOf(unit, figure)
  const digits = { maximumSignificantDigits: 3 }
  return `${(figure / from).toLocaleString('en', digits)}${name}`
}

/** The figures of an axis from nothing to at least `most`, some four of them, each of which is short in its unit. */
export function ticksOf(unit: string, most: number): number[] {
  const [from] = stepOf(unit, most)
  const round = unit === 's' && from >= 60 && from < 86_400 ? [1, 2, 5, 10, 15, 20, 30, 60] : undefined
  const rough = most / from / 4
  const ten = 10 ** Math.floor(Math.log10(rough))
  const step = (round ?? [1, 2, 2.5, 5, 10].map(each => each * ten)).find(each => each >= rough - 1e-9) ?? 10 * ten
  const count = Math.ceil(most / from / step - 1e-9)
  return Array.from({ length: count + 1 }, (_, i) => i * step * from)
}

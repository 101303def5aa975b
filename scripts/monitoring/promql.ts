import { getMetric, type LabelOf, type MetricName } from '../../src/telemetry/metric-list.ts'

/** The value that a label is compared with: `'GET'`, or with its operator `'=~"5.."'`. */
type Matchers<Name extends MetricName> = { readonly [label in LabelOf<Name>]?: string }

const matcher = ([label, value]: [string, string]) => (/^[=!]/.test(value) ? `${label}${value}` : `${label}="${value}"`)

/** Other exporters also expose the metrics of the semantic conventions, so those are limited to our scrape job. */
const ownOnly = (name: string) => (name.startsWith('tillbridge_') ? [] : [matcher(['job', 'tillbridge'])])

function selected(name: string, matchers: Record<string, string>) {
  const some = [...ownOnly(name), ...Object.entries(matchers).map(matcher)]
  return some.length ? `${name}{${some.join(', ')}}` : name
}

/** A metric of the list, as PromQL selects it. */
export const of = <Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}) =>
  selected(name, matchers as Record<string, string>)

/** How many a histogram of the list has counted. */
export const countOf = <Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}) =>
  selected(`${name}_count`, matchers as Record<string, string>)

/** The buckets of a histogram of the list; up to `le` seconds, which is the end of one, or all. */
export function bucketsOf<Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}, le?: number) {
  if (le !== undefined && !getMetric(name).buckets?.includes(le))
    throw new Error(`${name} has no bucket that ends at ${le}.`)
  return selected(`${name}_bucket`, { ...(matchers as object), ...(le !== undefined && { le: String(le) }) })
}

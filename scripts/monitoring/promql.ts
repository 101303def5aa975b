import { getMetric, type LabelOf, type MetricName } from '../../src/telemetry/metric-list.ts'

/** The value that a label is compared with: `'GET'`, or with its operator `'=~"5.."'`. */
type Matchers<Name extends MetricName> = { readonly [label in LabelOf<Name>]?: string }

const renderMatcher = ([label, value]: [string, string]) =>
  /^[=!]/.test(value) ? `${label}${value}` : `${label}="${value}"`

/** Other exporters also expose the metrics of the semantic conventions, so those are limited to our scrape job. */
const listJobMatchers = (name: string) => (name.startsWith('tillbridge_') ? [] : [renderMatcher(['job', 'tillbridge'])])

function buildSelector(name: string, matchers: Record<string, string>) {
  const rendered = [...listJobMatchers(name), ...Object.entries(matchers).map(renderMatcher)]
  return rendered.length ? `${name}{${rendered.join(', ')}}` : name
}

/** A metric of the list, as PromQL selects it. */
export const selectMetric = <Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}) =>
  buildSelector(name, matchers as Record<string, string>)

/** How many a histogram of the list has counted. */
export const selectCount = <Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}) =>
  buildSelector(`${name}_count`, matchers as Record<string, string>)

/** The buckets of a histogram of the list; up to `le` seconds, which is the end of one, or all. */
export function selectBuckets<Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}, le?: number) {
  if (le !== undefined && !getMetric(name).buckets?.includes(le))
    throw new Error(`${name} has no bucket that ends at ${le}.`)
  return buildSelector(`${name}_bucket`, { ...(matchers as object), ...(le !== undefined && { le: String(le) }) })
}

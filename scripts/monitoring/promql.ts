import { getMetric, type LabelOf, type MetricName } from '../../src/telemetry/metric-list.ts'

/** Required values of labels, such as `'GET'`, or with an operator: `'=~"5.."'`. */
type Matchers<Name extends MetricName> = { readonly [label in LabelOf<Name>]?: string }

const renderMatcher = ([label, value]: [string, string]) =>
  /^[=!]/.test(value) ? `${label}${value}` : `${label}="${value}"`

/** Limits metrics of the semantic conventions to our scrape job, because other exporters expose them too. */
const listJobMatchers = (name: string) => (name.startsWith('tillbridge_') ? [] : [renderMatcher(['job', 'tillbridge'])])

function buildSelector(name: string, matchers: Record<string, string>) {
  const rendered = [...listJobMatchers(name), ...Object.entries(matchers).map(renderMatcher)]
  return rendered.length ? `${name}{${rendered.join(', ')}}` : name
}

/** Returns the PromQL selector of a metric in the metric list. */
export const selectMetric = <Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}) =>
  buildSelector(name, matchers as Record<string, string>)

/** Returns the PromQL selector of a histogram's count. */
export const selectCount = <Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}) =>
  buildSelector(`${name}_count`, matchers as Record<string, string>)

/** Returns the PromQL selector of a histogram's buckets, or of the bucket that ends at `le` seconds. Throws if no bucket ends there. */
export function selectBuckets<Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}, le?: number) {
  if (le !== undefined && !getMetric(name).buckets?.includes(le))
    throw new Error(`${name} has no bucket that ends at ${le}.`)
  return buildSelector(`${name}_bucket`, { ...(matchers as object), ...(le !== undefined && { le: String(le) }) })
}

import { getMetric, type LabelOf, type MetricName } from './metric-list.ts'

/** One sample of the Prometheus text exposition format, version 0.0.4. */
export interface Sample {
  /** The name of the metric, followed by `_bucket`, `_sum` or `_count` if it is a histogram. */
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: Readonly<Record<string, string>>
  value: number
  /** True if several processes are merged by their maximum instead of their sum. */
  useMax?: boolean
}

/** The labels of a metric. Each is optional. */
type Labels<Name extends MetricName> = { readonly [label in LabelOf<Name>]?: string }

/** Creates a sample of a metric in the list. */
export function createSample<Name extends MetricName>(name: Name, labels: Labels<Name>, value: number): Sample {
  const { type, help, largest = false } = getMetric(name)
  return { name, type, help, labels: labels as Record<string, string>, value, ...(largest && { useMax: largest }) }
}

interface Timing {
  labels: Readonly<Record<string, string>>
  counts: number[]
  sum: number
}

/** Creates a histogram of durations for a metric in the list. */
export function createHistogram<Name extends MetricName>(name: Name) {
  const { help, buckets = [] } = getMetric(name)
  const timings = new Map<string, Timing>()
  return {
    /** Adds a duration. `key` identifies the labels; `labels` is called only for a new key. */
    observe(key: string, seconds: number, labels: () => Labels<Name>) {
      let timing = timings.get(key)
      if (!timing) {
        timing = { labels: labels() as Record<string, string>, counts: Array(buckets.length + 1).fill(0), sum: 0 }
        timings.set(key, timing)
      }
      const index = buckets.findIndex(limit => seconds <= limit)
      const place = index < 0 ? buckets.length : index
      timing.counts[place] = (timing.counts[place] ?? 0) + 1
      timing.sum += seconds
    },
    samples: (): Sample[] =>
      [...timings.values()].flatMap(({ labels, counts, sum }) => {
        const createPart = (ending: string, value: number, more: Record<string, string> = {}): Sample => ({
          name: `${name}${ending}`,
          type: 'histogram',
          help,
          value,
          labels: { ...labels, ...more },
        })
        let total = 0
        const below = counts.map((count, i) => {
          total += count
          return createPart('_bucket', total, { le: String(buckets[i] ?? '+Inf') })
        })
        return [...below, createPart('_sum', sum), createPart('_count', total)]
      }),
  }
}

/** Merges the samples of several processes. */
export function mergeSamples(processes: readonly (readonly Sample[])[]): Sample[] {
  const merged = new Map<string, Sample>()
  for (const sample of processes.flat()) {
    const key = `${sample.name}${formatLabels(sample)}`
    const existing = merged.get(key)
    const value = !existing
      ? sample.value
      : sample.useMax
        ? Math.max(existing.value, sample.value)
        : existing.value + sample.value
    merged.set(key, { ...sample, value })
  }
  return [...merged.values()]
}

/** Returns the name of a sample's metric, without the part of a histogram. */
export const getMetricName = ({ name, type }: Sample) =>
  type === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name

/** Formats samples for Prometheus, grouped by metric. */
export function formatExposition(samples: readonly Sample[]): string {
  return [...Map.groupBy(samples, getMetricName)]
    .map(([metric, metricSamples]) =>
      [
        `# HELP ${metric} ${metricSamples[0]?.help}`,
        `# TYPE ${metric} ${metricSamples[0]?.type}`,
        ...metricSamples.map(sample => `${sample.name}${formatLabels(sample)} ${sample.value}`),
        '',
      ].join('\n'),
    )
    .join('')
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }

function formatLabels({ labels }: Sample) {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\"\n]/g, c => escapes[c] ?? c)}"`,
  )
  return pairs.length ? `{${pairs.join(',')}}` : ''
}

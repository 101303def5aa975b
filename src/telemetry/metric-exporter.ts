import { ValueType } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics'
import { finishesWithin } from '../concurrency/backoff.ts'
import { type OnDeliveryChange, sendOnce } from './export-queue.ts'
import { type Collector, createMetricsExporter, schemaUrl, toHrTime } from './otlp.ts'
import { getMetricName, type Sample } from './samples.ts'

interface MetricExporterOptions extends Collector {
  /** The samples of all processes, as `/metrics` returns them. */
  collect: () => Promise<Sample[]>
  intervalMs: number
  onChange: OnDeliveryChange
}

/** Pushes the metrics to an OTLP collector at an interval, and once more at the end. If an attempt fails, the next one has newer values. */
export function startMetricExport({
  collect,
  intervalMs,
  onChange,
  resource,
  version,
  ...options
}: MetricExporterOptions) {
  const exporter = createMetricsExporter(options)
  const startedAt = Date.now()
  const processResource = resourceFromAttributes(resource, { schemaUrl })
  let isDelivered = true

  async function push() {
    const metrics = toMetrics(await collect(), startedAt, Date.now())
    const scopeMetrics = [{ scope: { name: 'tillbridge', version }, metrics }]
    const { wasSent, reason } = await sendOnce(exporter, { resource: processResource, scopeMetrics })
    if (wasSent !== isDelivered) onChange(wasSent, reason)
    isDelivered = wasSent
  }
  let pushing = Promise.resolve()
  // One at a time: a collector that hangs must not collect requests.
  let isPushing = false
  const pushNext = () => {
    if (isPushing) return
    isPushing = true
    pushing = push()
      .catch(error => {
        if (isDelivered) onChange(false, (error as Error).message)
        isDelivered = false
      })
      .finally(() => {
        isPushing = false
      })
  }
  const timer = setInterval(pushNext, intervalMs).unref()
  return {
    /** Pushes the last values, for at most `withinMs`. */
    async close(withinMs: number) {
      clearInterval(timer)
      const pushLast = async () => {
        await pushing
        pushNext()
        await pushing
      }
      await finishesWithin(pushLast(), withinMs)
    },
  }
}

/** Returns the unit of a metric (UCUM), which its name ends with: Prometheus' and OpenTelemetry's names stay the same. */
const findUnit = (name: string) => (/_seconds$/.test(name) ? 's' : /_bytes$/.test(name) ? 'By' : '')

/** Converts samples to metrics with cumulative values since the start of this process. */
function toMetrics(samples: readonly Sample[], startedAt: number, now: number): MetricData[] {
  const times = { startTime: toHrTime(startedAt), endTime: toHrTime(now) }
  return [...Map.groupBy(samples, getMetricName)].flatMap(([name, parts]): MetricData[] => {
    const [first] = parts
    if (!first) return []
    const metric = {
      descriptor: { name, description: first.help, unit: findUnit(name), valueType: ValueType.DOUBLE },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
    }
    if (first.type === 'histogram')
      return [{ ...metric, dataPointType: DataPointType.HISTOGRAM, dataPoints: toHistograms(name, parts, times) }]
    const dataPoints = parts.map(({ labels, value }) => ({ ...times, attributes: labels, value }))
    return first.type === 'counter'
      ? [{ ...metric, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }]
      : [{ ...metric, dataPointType: DataPointType.GAUGE, dataPoints }]
  })
}

type Times = Pick<MetricData['dataPoints'][number], 'startTime' | 'endTime'>

/** Converts the parts of a histogram. Prometheus' buckets count all smaller values too, and OpenTelemetry's don't. */
function toHistograms(name: string, parts: readonly Sample[], times: Times) {
  const withoutBound = ({ le: _, ...labels }: Readonly<Record<string, string>>) => labels
  const series = Map.groupBy(parts, ({ labels }) => JSON.stringify(Object.entries(withoutBound(labels)).sort()))
  return [...series.values()].map(samples => {
    const find = (ending: string) => samples.find(sample => sample.name === `${name}${ending}`)?.value ?? 0
    const buckets = samples.filter(sample => sample.name === `${name}_bucket`)
    const boundaries = buckets.map(({ labels }) => Number(labels.le)).filter(Number.isFinite)
    const counts = buckets.map((bucket, i) => bucket.value - (buckets[i - 1]?.value ?? 0))
    const value = { buckets: { boundaries, counts }, sum: find('_sum'), count: find('_count') }
    return { ...times, attributes: withoutBound(samples[0]?.labels ?? {}), value }
  })
}

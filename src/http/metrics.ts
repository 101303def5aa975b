import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'

/** One figure as Prometheus reads it: the text exposition format, 0.0.4. */
export interface Sample {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: Readonly<Record<string, string>>
  value: number
  /** Of several processes the largest counts, rather than the sum. */
  largest?: boolean
}

/** Seconds. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])

const resolutionMs = 20

interface Timing {
  counts: number[]
  sum: number
}

/** Counts what a server answers, by its routes as they are registered: what callers make up is no label. */
export function measureRequests(server: FastifyInstance): () => Sample[] {
  const answered = new Map<string, { labels: Record<string, string>; count: number }>()
  const timings = new Map<string, { labels: Record<string, string>; timing: Timing }>()
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  server.addHook('onClose', async () => void delay.disable())
  server.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    const method = methods.has(request.method) ? request.method : 'other'
    const status = String(reply.statusCode)
    const key = `${method} ${route}`
    const count = answered.get(`${key} ${status}`) ?? { labels: { route, method, status }, count: 0 }
    answered.set(`${key} ${status}`, count)
    count.count++
    const { timing } = timings.get(key) ?? {
      labels: { route, method },
      timing: { counts: new Array<number>(buckets.length + 1).fill(0), sum: 0 },
    }
    if (!timings.has(key)) timings.set(key, { labels: { route, method }, timing })
    const seconds = reply.elapsedTime / 1_000
    const bucket = buckets.findIndex(most => seconds <= most)
    const place = bucket < 0 ? buckets.length : bucket
    timing.counts[place] = (timing.counts[place] ?? 0) + 1
    timing.sum += seconds
  })

  return () => {
    // It tells how long a timer took, its own time with it.
    const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolutionMs) / 1e3
    const loop = (quantile: string, value: number): Sample => ({
      name: 'tillbridge_event_loop_delay_seconds',
      type: 'gauge',
      labels: { quantile },
      largest: true,
      help: 'Delay of the event loop since the last look.',
      value: seconds(value),
    })
    const loops = [loop('0.5', delay.percentile(50)), loop('0.99', delay.percentile(99)), loop('1', delay.max)]
    delay.reset()
    return [
      ...[...answered.values()].map(
        ({ labels, count }): Sample => ({
          name: 'tillbridge_http_requests_total',
          type: 'counter',
          labels,
          value: count,
          help: 'Requests answered, by route, method and status.',
        }),
      ),
      ...[...timings.values()].flatMap(({ labels, timing }) => histogram(labels, timing)),
      ...loops,
      {
        name: 'tillbridge_resident_memory_bytes',
        type: 'gauge',
        labels: {},
        value: process.memoryUsage.rss(),
        help: 'Memory of the serving processes.',
      },
    ]
  }
}

function histogram(labels: Record<string, string>, { counts, sum }: Timing): Sample[] {
  const help = 'Seconds until an answer was sent, by route and method.'
  const sample = (ending: string, value: number, more: Record<string, string> = {}): Sample => ({
    name: `tillbridge_http_request_duration_seconds${ending}`,
    type: 'histogram',
    help,
    value,
    labels: { ...labels, ...more },
  })
  let total = 0
  const below = counts.map((count, i) => {
    total += count
    return sample('_bucket', total, { le: String(buckets[i] ?? '+Inf') })
  })
  return [...below, sample('_sum', sum), sample('_count', total)]
}

/** The figures of several processes as those of one. */
export function merged(processes: readonly (readonly Sample[])[]): Sample[] {
  const found = new Map<string, Sample>()
  for (const sample of processes.flat()) {
    const key = `${sample.name}${labelsOf(sample)}`
    const known = found.get(key)
    const value = !known
      ? sample.value
      : sample.largest
        ? Math.max(known.value, sample.value)
        : known.value + sample.value
    found.set(key, { ...sample, value })
  }
  return [...found.values()]
}

/** The text that Prometheus reads: the samples of a metric together, under what it is. */
export function exposition(samples: readonly Sample[]): string {
  const metricOf = ({ name, type }: Sample) => (type === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name)
  return [...Map.groupBy(samples, metricOf)]
    .map(([metric, some]) =>
      [
        `# HELP ${metric} ${some[0]?.help}`,
        `# TYPE ${metric} ${some[0]?.type}`,
        ...some.map(sample => `${sample.name}${labelsOf(sample)} ${sample.value}`),
        '',
      ].join('\n'),
    )
    .join('')
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }

function labelsOf({ labels }: Sample) {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\"\n]/g, c => escapes[c] ?? c)}"`,
  )
  return pairs.length ? `{${pairs.join(',')}}` : ''
}

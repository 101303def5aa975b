import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import manifest from '../../package.json' with { type: 'json' }
import type { Config } from '../config/config.ts'
import type { OnDeliveryChange } from '../telemetry/export-queue.ts'
import type { Exporter } from '../telemetry/exporter.ts'
import { forwardLogLines } from '../telemetry/log-lines.ts'
import type { Collector } from '../telemetry/otlp.ts'
import type { Sample } from '../telemetry/samples.ts'
import { createSampler } from '../telemetry/sampling.ts'
import { recordSpans } from '../telemetry/spans.ts'

/** Maximum milliseconds for sending the last spans of a process. */
const flushTimeoutMs = 2_000

const { version } = manifest
type Counter = Pick<Exporter, 'counts'>
let spanCounter: Counter | undefined
let logCounter: Counter | undefined

/** Counts the exported spans and log records of this process by their outcome. Empty for signals that are not exported. */
export const getExportCounts = (): Record<'spans' | 'logs', Partial<Record<'sent' | 'lost', number>>> => ({
  spans: spanCounter?.counts() ?? {},
  logs: logCounter?.counts() ?? {},
})

const instanceId = randomUUID()

/** Returns the collector of this process for all signals. Returns undefined if none is configured. */
function findCollector(config: Config): Collector | undefined {
  if (config.otelExporterOtlpEndpoint === undefined) return
  return {
    url: config.otelExporterOtlpEndpoint,
    headers: config.otelExporterOtlpHeaders,
    version,
    resource: {
      'service.name': config.otelServiceName,
      'service.version': version,
      'service.instance.id': instanceId,
      'host.name': hostname(),
      'process.pid': process.pid,
      'telemetry.sdk.name': 'tillbridge',
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.version': version,
    },
  }
}

/** Logs when the collector begins to reject a signal or is unreachable, and when it accepts it again. */
const logDelivery =
  (log: Logger, signal: string): OnDeliveryChange =>
  (isDelivered, reason) =>
    isDelivered ? log.info(`${signal} export resumed`) : log.warn({ reason }, `${signal} export failed`)

/** Exports traces, and logs if OTEL_LOGS_EXPORTER is set, to the configured collector. Returns a function that stops the export. */
export async function startTelemetryExport(config: Config, log: Logger): Promise<() => Promise<void>> {
  const collector = findCollector(config)
  if (!collector) return async () => {}
  const endLogs = config.otelLogsExporter === 'otlp' ? await startLogExport(collector, log) : undefined
  const endTraces = await startTracing(config, collector, log)
  return async () => {
    await Promise.all([endTraces(), endLogs?.()])
  }
}

async function startLogExport(collector: Collector, log: Logger) {
  const { createLogExporter } = await import('../telemetry/log-exporter.ts')
  const exporter = createLogExporter({ ...collector, onChange: logDelivery(log, 'log') })
  const end = forwardLogLines(exporter.record)
  logCounter = exporter
  return async () => {
    end()
    await exporter.close(flushTimeoutMs)
  }
}

/** Pushes metrics if OTEL_METRICS_EXPORTER is set. Returns a function that pushes the last values and stops. */
export async function startMetricPush(config: Config, log: Logger, collect: () => Promise<Sample[]>) {
  const collector = findCollector(config)
  if (!collector || config.otelMetricsExporter !== 'otlp') return
  const { startMetricExport } = await import('../telemetry/metric-exporter.ts')
  const intervalMs = config.otelMetricExportInterval
  const exporter = startMetricExport({ ...collector, collect, intervalMs, onChange: logDelivery(log, 'metric') })
  return () => exporter.close(flushTimeoutMs)
}

async function startTracing(config: Config, collector: Collector, log: Logger): Promise<() => Promise<void>> {
  const { createExporter } = await import('../telemetry/exporter.ts')
  const exporter = createExporter({
    ...collector,
    url: `${collector.url}/v1/traces`,
    onChange: logDelivery(log, 'trace'),
  })
  const end = recordSpans({
    sampler: createSampler(config.otelTracesSampler, config.otelTracesSamplerArg),
    record: exporter.record,
  })
  spanCounter = exporter
  return async () => {
    end()
    await exporter.close(flushTimeoutMs)
  }
}

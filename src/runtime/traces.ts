import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import manifest from '../../package.json' with { type: 'json' }
import type { Config } from '../config/config.ts'
import type { Exporter } from '../telemetry/exporter.ts'
import { createSampler } from '../telemetry/sampling.ts'
import { recordSpans } from '../telemetry/spans.ts'

/** Maximum milliseconds for sending the last spans of a process. */
const flushTimeoutMs = 2_000

const { version } = manifest
let exporter: Exporter | undefined

/** Counts the spans of this process by their outcome. Empty without tracing. */
export const getSpanCounts = (): Partial<Record<'sent' | 'lost', number>> => exporter?.counts() ?? {}

/** Exports traces if an endpoint is configured. The exporter is loaded only then. Returns a function that stops the export. */
export async function startTracing(config: Config, log: Logger): Promise<() => Promise<void>> {
  const endpoint = config.otelExporterOtlpEndpoint
  if (endpoint === undefined) return async () => {}
  const { createExporter } = await import('../telemetry/exporter.ts')
  const own = createExporter({
    url: `${endpoint}/v1/traces`,
    headers: config.otelExporterOtlpHeaders,
    version,
    resource: {
      'service.name': config.otelServiceName,
      'service.version': version,
      'service.instance.id': randomUUID(),
      'host.name': hostname(),
      'process.pid': process.pid,
      'telemetry.sdk.name': 'tillbridge',
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.version': version,
    },
    onChange: (isDelivered, reason) =>
      isDelivered ? log.info('trace export resumed') : log.warn({ reason }, 'trace export failed'),
  })
  const end = recordSpans({
    sampler: createSampler(config.otelTracesSampler, config.otelTracesSamplerArg),
    record: own.record,
  })
  exporter = own
  return async () => {
    end()
    await own.close(flushTimeoutMs)
  }
}

import type { HrTime } from '@opentelemetry/api'
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base'
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http'
import {
  LogsExporterMetricsHelper,
  MetricsExporterMetricsHelper,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
} from '@opentelemetry/otlp-transformer'
import { exportTimeoutMs } from './export-queue.ts'

/** The collector of an exporter, without the path of the signal, and what describes this process. */
export interface Collector {
  url: string
  headers: Readonly<Record<string, string>>
  resource: Readonly<Record<string, string | number>>
  version: string
}

export const schemaUrl = 'https://opentelemetry.io/schemas/1.37.0'

/** Converts milliseconds since 1970 to seconds and nanoseconds. The clock has microseconds. */
export function toHrTime(milliseconds: number): HrTime {
  const microseconds = Math.round(milliseconds * 1_000)
  return [Math.floor(microseconds / 1e6), (microseconds % 1e6) * 1_000]
}

type Options = Pick<Collector, 'url' | 'headers'>

const toHttpOptions = ({ url, headers }: Options, signal: 'METRICS' | 'LOGS', path: string) =>
  convertLegacyHttpOptions({ url: `${url}/${path}`, headers, timeoutMillis: exportTimeoutMs }, signal, path, {
    'Content-Type': 'application/x-protobuf',
  })

/** Creates an exporter of metrics. Its packages for this are older than the trace exporter, so this does the same with their parts. */
export const createMetricsExporter = (options: Options) =>
  new OTLPExporterBase(
    createOtlpHttpExportDelegate(
      toHttpOptions(options, 'METRICS', 'v1/metrics'),
      ProtobufMetricsSerializer,
      'otlp_http_metric_exporter',
      MetricsExporterMetricsHelper,
      undefined,
    ),
  )

/** Creates an exporter of log records. */
export const createLogsExporter = (options: Options) =>
  new OTLPExporterBase(
    createOtlpHttpExportDelegate(
      toHttpOptions(options, 'LOGS', 'v1/logs'),
      ProtobufLogsSerializer,
      'otlp_http_log_exporter',
      LogsExporterMetricsHelper,
      undefined,
    ),
  )

import { SeverityNumber, TraceFlags } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs'
import { createExportQueue, type OnDeliveryChange } from './export-queue.ts'
import { type Collector, createLogsExporter, schemaUrl, toHrTime } from './otlp.ts'

/** The levels of log lines as OpenTelemetry's severities. */
const severities: Readonly<Record<number, readonly [SeverityNumber, string]>> = {
  10: [SeverityNumber.TRACE, 'TRACE'],
  20: [SeverityNumber.DEBUG, 'DEBUG'],
  30: [SeverityNumber.INFO, 'INFO'],
  40: [SeverityNumber.WARN, 'WARN'],
  50: [SeverityNumber.ERROR, 'ERROR'],
  60: [SeverityNumber.FATAL, 'FATAL'],
}

/** A log line as standard error has it. The other fields are attributes. */
interface LogLine extends Record<string, unknown> {
  level: number
  time: string
  msg?: string
  trace_id?: string
  span_id?: string
  err?: { type?: string; message?: string; stack?: string }
}

/** Sends log lines to an OTLP collector in the background, in addition to standard error. */
export function createLogExporter({
  resource,
  version,
  onChange,
  ...options
}: Collector & { onChange: OnDeliveryChange }) {
  const shared = {
    resource: resourceFromAttributes(resource, { schemaUrl }),
    instrumentationScope: { name: 'tillbridge', version },
    droppedAttributesCount: 0,
  }
  const { add, counts, close } = createExportQueue(createLogsExporter(options), onChange)

  function toRecord(line: string): ReadableLogRecord {
    const { level, time, msg, trace_id: traceId, span_id: spanId, err, ...fields } = JSON.parse(line) as LogLine
    // Attributes of the resource.
    delete fields['service.name']
    delete fields.pid
    const [severityNumber, severityText] = severities[level] ?? [SeverityNumber.UNSPECIFIED, '']
    const at = toHrTime(Date.parse(time))
    return {
      ...shared,
      hrTime: at,
      hrTimeObserved: at,
      severityNumber,
      severityText,
      body: msg ?? '',
      ...(traceId !== undefined &&
        spanId !== undefined && { spanContext: { traceId, spanId, traceFlags: TraceFlags.SAMPLED } }),
      attributes: { ...toAttributes(fields), ...(err && describeError(err)) },
    }
  }
  return { record: (line: string) => add(() => toRecord(line)), counts, close }
}

const describeError = ({ type, message, stack }: NonNullable<LogLine['err']>) =>
  toAttributes({ 'exception.type': type, 'exception.message': message, 'exception.stacktrace': stack })

/** Converts fields to attributes. Lists and objects become JSON. */
function toAttributes(fields: Readonly<Record<string, unknown>>) {
  const attributes: Record<string, string | number | boolean> = {}
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') attributes[name] = value
    else if (value !== undefined && value !== null) attributes[name] = JSON.stringify(value)
  return attributes
}

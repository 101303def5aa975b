import assert from 'node:assert/strict'

/** The type of a field: a message, or a value and its JSON form. */
type Field = readonly [name: string, kind: string, repeated?: 'repeated']

/** The messages of opentelemetry-proto 1.x for traces, metrics and logs. Fields by their numbers. */
const messages: Readonly<Record<string, Readonly<Record<number, Field>>>> = {
  ExportTraceServiceRequest: { 1: ['resourceSpans', 'ResourceSpans', 'repeated'] },
  ResourceSpans: {
    1: ['resource', 'Resource'],
    2: ['scopeSpans', 'ScopeSpans', 'repeated'],
    3: ['schemaUrl', 'string'],
  },
  Resource: { 1: ['attributes', 'KeyValue', 'repeated'], 2: ['droppedAttributesCount', 'number'] },
  ScopeSpans: { 1: ['scope', 'InstrumentationScope'], 2: ['spans', 'Span', 'repeated'] },
  InstrumentationScope: { 1: ['name', 'string'], 2: ['version', 'string'] },
  Span: {
    1: ['traceId', 'hex'],
    2: ['spanId', 'hex'],
    4: ['parentSpanId', 'hex'],
    5: ['name', 'string'],
    6: ['kind', 'number'],
    7: ['startTimeUnixNano', 'fixed64'],
    8: ['endTimeUnixNano', 'fixed64'],
    9: ['attributes', 'KeyValue', 'repeated'],
    10: ['droppedAttributesCount', 'number'],
    12: ['droppedEventsCount', 'number'],
    14: ['droppedLinksCount', 'number'],
    15: ['status', 'Status'],
    16: ['flags', 'fixed32'],
  },
  Status: { 3: ['code', 'number'] },
  ExportMetricsServiceRequest: { 1: ['resourceMetrics', 'ResourceMetrics', 'repeated'] },
  ResourceMetrics: {
    1: ['resource', 'Resource'],
    2: ['scopeMetrics', 'ScopeMetrics', 'repeated'],
    3: ['schemaUrl', 'string'],
  },
  ScopeMetrics: { 1: ['scope', 'InstrumentationScope'], 2: ['metrics', 'Metric', 'repeated'] },
  Metric: {
    1: ['name', 'string'],
    2: ['description', 'string'],
    3: ['unit', 'string'],
    5: ['gauge', 'Gauge'],
    7: ['sum', 'Sum'],
    9: ['histogram', 'Histogram'],
  },
  Gauge: { 1: ['dataPoints', 'NumberDataPoint', 'repeated'] },
  Sum: {
    1: ['dataPoints', 'NumberDataPoint', 'repeated'],
    2: ['aggregationTemporality', 'number'],
    3: ['isMonotonic', 'boolean'],
  },
  Histogram: { 1: ['dataPoints', 'HistogramDataPoint', 'repeated'], 2: ['aggregationTemporality', 'number'] },
  NumberDataPoint: {
    2: ['startTimeUnixNano', 'fixed64'],
    3: ['timeUnixNano', 'fixed64'],
    4: ['asDouble', 'double'],
    7: ['attributes', 'KeyValue', 'repeated'],
  },
  HistogramDataPoint: {
    2: ['startTimeUnixNano', 'fixed64'],
    3: ['timeUnixNano', 'fixed64'],
    4: ['count', 'fixed64'],
    5: ['sum', 'double'],
    6: ['bucketCounts', 'packed fixed64'],
    7: ['explicitBounds', 'packed double'],
    9: ['attributes', 'KeyValue', 'repeated'],
  },
  ExportLogsServiceRequest: { 1: ['resourceLogs', 'ResourceLogs', 'repeated'] },
  ResourceLogs: { 1: ['resource', 'Resource'], 2: ['scopeLogs', 'ScopeLogs', 'repeated'], 3: ['schemaUrl', 'string'] },
  ScopeLogs: { 1: ['scope', 'InstrumentationScope'], 2: ['logRecords', 'LogRecord', 'repeated'] },
  LogRecord: {
    1: ['timeUnixNano', 'fixed64'],
    2: ['severityNumber', 'number'],
    3: ['severityText', 'string'],
    5: ['body', 'AnyValue'],
    6: ['attributes', 'KeyValue', 'repeated'],
    7: ['droppedAttributesCount', 'number'],
    8: ['flags', 'fixed32'],
    9: ['traceId', 'hex'],
    10: ['spanId', 'hex'],
    11: ['observedTimeUnixNano', 'fixed64'],
  },
  KeyValue: { 1: ['key', 'string'], 2: ['value', 'AnyValue'] },
  AnyValue: {
    1: ['stringValue', 'string'],
    2: ['boolValue', 'boolean'],
    3: ['intValue', 'int64'],
    4: ['doubleValue', 'double'],
  },
}
const wireTypes: Readonly<Record<string, number>> = {
  number: 0,
  boolean: 0,
  int64: 0,
  fixed64: 1,
  double: 1,
  fixed32: 5,
}

/** Parses a message in the wire format of Protocol Buffers. Throws if a field is unknown or wrongly repeated. */
export function readMessage(name: string, bytes: Buffer): Record<string, unknown> {
  const fields = messages[name] ?? assert.fail(`unknown message ${name}`)
  const message: Record<string, unknown> = Object.fromEntries(
    Object.values(fields).flatMap(([fieldName, , repeated]) => (repeated ? [[fieldName, []]] : [])),
  )
  let at = 0
  const readVarint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(bytes.readUInt8(at++))
      value |= (byte & 127n) << shift
      if (byte < 128n) return value
    }
  }
  const readBytes = (length: number) => {
    assert.ok(at + length <= bytes.length, `${name} ends within a field`)
    at += length
    return bytes.subarray(at - length, at)
  }
  const readValue = (kind: string): unknown => {
    if (kind === 'number') return Number(readVarint())
    if (kind === 'boolean') return readVarint() === 1n
    if (kind === 'int64') return String(BigInt.asIntN(64, readVarint()))
    if (kind === 'fixed64') return String(readBytes(8).readBigUInt64LE())
    if (kind === 'double') return readBytes(8).readDoubleLE()
    if (kind === 'fixed32') return readBytes(4).readUInt32LE()
    const content = readBytes(Number(readVarint()))
    if (kind === 'hex') return content.toString('hex')
    if (kind.startsWith('packed')) {
      const view = new DataView(content.buffer, content.byteOffset, content.length)
      const offsets = Array.from({ length: content.length / 8 }, (_, i) => i * 8)
      return offsets.map(i =>
        kind === 'packed double' ? view.getFloat64(i, true) : Number(view.getBigUint64(i, true)),
      )
    }
    return kind === 'string' ? new TextDecoder('utf-8', { fatal: true }).decode(content) : readMessage(kind, content)
  }
  while (at < bytes.length) {
    const tag = Number(readVarint())
    const [field, kind, repeated] = fields[tag >> 3] ?? assert.fail(`${name} has an unknown field ${tag >> 3}`)
    assert.equal(tag & 7, wireTypes[kind] ?? 2, `${name}.${field} must have the wire type of ${kind}`)
    if (repeated) (message[field] as unknown[]).push(readValue(kind))
    else {
      assert.ok(!(field in message), `${name}.${field} is repeated`)
      message[field] = readValue(kind)
    }
  }
  return message
}

import type { Attributes, Kind, Span, Value } from './spans.ts'

/** `SpanKind` of the protocol. */
const kinds: Readonly<Record<Kind, number>> = { internal: 1, server: 2, client: 3, consumer: 5 }

/** Attributes as the protocol has them, without the brackets. */
function attributesText(attributes: Attributes) {
  let text = ''
  for (const key in attributes) {
    const value = attributes[key]
    if (value !== undefined) text += `${text && ','}{"key":"${key}","value":${valueText(value)}}`
  }
  return text
}

const written = new WeakMap<Attributes, string>()

/** The same, of an object that many spans have. */
function writtenOnce(attributes: Attributes) {
  const known = written.get(attributes)
  if (known !== undefined) return known
  const text = attributesText(attributes)
  written.set(attributes, text)
  return text
}

function valueText(value: Value) {
  if (typeof value === 'string') return `{"stringValue":${JSON.stringify(value)}}`
  if (typeof value === 'boolean') return `{"boolValue":${value}}`
  return Number.isInteger(value) ? `{"intValue":"${value}"}` : `{"doubleValue":${value}}`
}

/** Nanoseconds since 1970, as text: they are more than a number holds. The clock knows microseconds. */
const nanoseconds = (milliseconds: number) => `${Math.round(milliseconds * 1_000)}000`

/** A span that has ended, in JSON (OTLP 1.x, `opentelemetry.proto.trace.v1.Span`). */
export function spanText(span: Span): string {
  const { fault, learned } = span
  const parent = span.parentId === undefined ? '' : `"parentSpanId":"${span.parentId}",`
  const failed = fault === undefined ? '' : attributesText({ 'error.type': fault })
  const more = learned === undefined ? '' : attributesText(learned)
  const attributes = [writtenOnce(span.attributes), more, failed].filter(Boolean).join(',')
  const status = fault === undefined ? '' : ',"status":{"code":2}'
  return `{"traceId":"${span.traceId}","spanId":"${span.spanId}",${parent}"flags":${span.isSampled ? 1 : 0},"name":${JSON.stringify(span.name)},"kind":${kinds[span.kind]},"startTimeUnixNano":"${nanoseconds(span.beganAt)}","endTimeUnixNano":"${nanoseconds(span.endedAt ?? span.beganAt)}","attributes":[${attributes}]${status}}`
}

/** What is told of who sends, before the spans of each request. */
export const resourceText = (resource: Attributes) =>
  `"resource":{"attributes":[${attributesText(resource)}]},"schemaUrl":"https://opentelemetry.io/schemas/1.37.0"`

/** A request with spans (`ExportTraceServiceRequest`). */
export const requestText = (resource: string, version: string, spans: readonly string[]) =>
  `{"resourceSpans":[{${resource},"scopeSpans":[{"scope":{"name":"tillbridge","version":"${version}"},"spans":[${spans.join(',')}]}]}]}`

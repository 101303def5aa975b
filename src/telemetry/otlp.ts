import type { Attributes, Kind, Span, Value } from './spans.ts'

/** `SpanKind` of the protocol. */
const kinds: Readonly<Record<Kind, number>> = { internal: 1, server: 2, client: 3, consumer: 5 }

/** Attributes as the protocol has them. */
function attributesText(attributes: Attributes) {
  const told = Object.entries(attributes).filter(entry => entry[1] !== undefined)
  return `[${told.map(([key, value]) => `{"key":"${key}","value":${valueText(value)}}`).join(',')}]`
}

function valueText(value: Value) {
  if (typeof value === 'string') return `{"stringValue":${JSON.stringify(value)}}`
  if (typeof value === 'boolean') return `{"boolValue":${value}}`
  return Number.isInteger(value) ? `{"intValue":"${value}"}` : `{"doubleValue":${value}}`
}

/** Nanoseconds since 1970, as text: they are more than a number holds. */
function nanoseconds(milliseconds: number) {
  const whole = Math.floor(milliseconds)
  return `${whole}${Math.floor((milliseconds - whole) * 1e6)
    .toString()
    .padStart(6, '0')}`
}

/** A span that has ended, in JSON (OTLP 1.x, `opentelemetry.proto.trace.v1.Span`). */
export function spanText({ fault, ...span }: Span): string {
  const parent = span.parentId === undefined ? '' : `"parentSpanId":"${span.parentId}",`
  const attributes = fault === undefined ? span.attributes : { ...span.attributes, 'error.type': fault }
  const status = fault === undefined ? '' : ',"status":{"code":2}'
  return `{"traceId":"${span.traceId}","spanId":"${span.spanId}",${parent}"flags":${span.isSampled ? 1 : 0},"name":${JSON.stringify(span.name)},"kind":${kinds[span.kind]},"startTimeUnixNano":"${nanoseconds(span.beganAt)}","endTimeUnixNano":"${nanoseconds(span.endedAt ?? span.beganAt)}","attributes":${attributesText(attributes)}${status}}`
}

/** What is told of who sends, before the spans of each request. */
export const resourceText = (resource: Attributes) =>
  `"resource":{"attributes":${attributesText(resource)}},"schemaUrl":"https://opentelemetry.io/schemas/1.37.0"`

/** A request with spans (`ExportTraceServiceRequest`). */
export const requestText = (resource: string, version: string, spans: readonly string[]) =>
  `{"resourceSpans":[{${resource},"scopeSpans":[{"scope":{"name":"tillbridge","version":"${version}"},"spans":[${spans.join(',')}]}]}]}`

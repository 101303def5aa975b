import {
  addDouble,
  addFixed32,
  addFixed64,
  addHex,
  addMessage,
  addNegative,
  addNumber,
  addText,
  addWritten,
  type Message,
  newMessage,
  written,
} from './protobuf.ts'
import type { Attributes, Span, SpanKind, Value } from './spans.ts'

// The numbers of fields are those of opentelemetry-proto 1.x: `trace/v1/trace.proto`, `common/v1/common.proto`, `resource/v1/resource.proto`.

/** `SpanKind`. */
const kinds: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3, consumer: 5 }

/** `AnyValue`. */
function addValue(to: Message, value: Exclude<Value, undefined>) {
  if (typeof value === 'string') addText(to, 1, value)
  else if (typeof value === 'boolean') addNumber(to, 2, Number(value))
  else if (!Number.isSafeInteger(value)) addDouble(to, 4, value)
  else if (value < 0) addNegative(to, 3, value)
  else addNumber(to, 3, value)
}

/** Each attribute as a `KeyValue`. */
function addAttributes(to: Message, field: number, attributes: Attributes) {
  for (const key in attributes) {
    const value = attributes[key]
    if (value === undefined) continue
    addMessage(to, field, () => {
      addText(to, 1, key)
      addMessage(to, 2, () => addValue(to, value))
    })
  }
}

const spanAttributes = 9
const known = new WeakMap<Attributes, Buffer>()

/** The same of an object that many spans have, which is written once. */
function addKnown(to: Message, attributes: Attributes) {
  let fields = known.get(attributes)
  if (!fields) {
    const message = newMessage(256)
    addAttributes(message, spanAttributes, attributes)
    fields = written(message)
    known.set(attributes, fields)
  }
  addWritten(to, fields)
}

/** Nanoseconds since 1970 are more than a number holds: the clock knows microseconds. */
function addTime(to: Message, field: number, milliseconds: number) {
  const microseconds = Math.round(milliseconds * 1_000)
  const low = (microseconds % 2 ** 32) * 1_000
  const high = Math.floor(microseconds / 2 ** 32) * 1_000
  addFixed64(to, field, high + Math.floor(low / 2 ** 32), low % 2 ** 32)
}

const failed = 2

/** A span that has ended, as one of `ScopeSpans.spans`. `origin`: milliseconds since 1970 at which `performance.now()` was 0. */
export const addSpan = (to: Message, span: Span, origin: number) =>
  addMessage(to, 2, () => addFields(to, span, origin), 2)

function addFields(to: Message, span: Span, origin: number) {
  addHex(to, 1, span.traceId)
  addHex(to, 2, span.spanId)
  if (span.parentId !== undefined) addHex(to, 4, span.parentId)
  addText(to, 5, span.name)
  addNumber(to, 6, kinds[span.kind])
  addTime(to, 7, origin + span.startedAt)
  addTime(to, 8, origin + (span.endedAt ?? span.startedAt))
  addKnown(to, span.attributes)
  if (span.lateAttributes) addAttributes(to, spanAttributes, span.lateAttributes)
  if (span.fault !== undefined) {
    addAttributes(to, spanAttributes, { 'error.type': span.fault })
    addMessage(to, 15, () => addNumber(to, 3, failed))
  }
  // That it is sampled: the lowest bit of the flags of W3C Trace Context.
  addFixed32(to, 16, 1)
}

const schema = 'https://opentelemetry.io/schemas/1.37.0'

/** A request with spans (`ExportTraceServiceRequest`): who sends, and what `addSpan` has written. */
export function requestOf(resource: Attributes, version: string, spans: Message): Buffer<ArrayBuffer> {
  const to = newMessage(spans.length + 1_024)
  addMessage(to, 1, () => {
    addMessage(to, 1, () => addAttributes(to, 1, resource))
    addMessage(to, 2, () => {
      addMessage(to, 1, () => {
        addText(to, 1, 'tillbridge')
        addText(to, 2, version)
      })
      addWritten(to, spans.bytes.subarray(0, spans.length))
    })
    addText(to, 3, schema)
  })
  return to.bytes.subarray(0, to.length)
}

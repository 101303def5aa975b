import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addSpan, requestOf } from '../../src/telemetry/otlp.ts'
import { newMessage } from '../../src/telemetry/protobuf.ts'
import type { Span, Value } from '../../src/telemetry/spans.ts'
import { readMessage } from './protobuf.ts'

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(each => Buffer.from(each).toString('hex'))
const texts = fc.string({ unit: 'grapheme', maxLength: 40 })
const value: fc.Arbitrary<Value> = fc.oneof(
  texts,
  fc.boolean(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constant(undefined),
)
const attributes = fc.dictionary(texts, value)
const span: fc.Arbitrary<Span> = fc.record({
  traceId: hex(16),
  spanId: hex(8),
  isSampled: fc.constant(true),
  parentId: fc.option(hex(8), { nil: undefined }),
  // Some are longer than the number of their bytes was thought to be.
  name: fc.oneof(
    texts,
    fc.integer({ min: 0, max: 40_000 }).map(length => 'x'.repeat(length)),
  ),
  kind: fc.constantFrom('internal', 'server', 'client', 'consumer'),
  startedAt: fc.integer({ min: 0, max: 1e9 }),
  endedAt: fc.integer({ min: 0, max: 1e9 }),
  attributes,
  lateAttributes: fc.option(attributes, { nil: undefined }),
  fault: fc.option(texts, { nil: undefined }),
  childCount: fc.nat(),
})

const told = (from: Readonly<Record<string, Value>>) =>
  Object.entries(from).flatMap(([key, attribute]) =>
    attribute === undefined ? [] : [{ key, value: anyValue(attribute) }],
  )
function anyValue(attribute: string | number | boolean) {
  if (typeof attribute === 'string') return { stringValue: attribute }
  if (typeof attribute === 'boolean') return { boolValue: attribute }
  return Number.isSafeInteger(attribute) ? { intValue: String(BigInt(attribute)) } : { doubleValue: attribute }
}
const origin = 1_795_000_000_000
const nanoseconds = (milliseconds: number) => String(BigInt(origin + milliseconds) * 1_000_000n)

test('an encoded span is decoded by another implementation', () => {
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 5 }), attributes, (spans, resource) => {
      const message = newMessage(1)
      for (const each of spans) addSpan(message, each, origin)
      const read = readMessage('ExportTraceServiceRequest', requestOf(resource, '1.2.3', message))
      assert.deepEqual(read, {
        resourceSpans: [
          {
            resource: { attributes: told(resource) },
            schemaUrl: 'https://opentelemetry.io/schemas/1.37.0',
            scopeSpans: [
              {
                scope: { name: 'tillbridge', version: '1.2.3' },
                spans: spans.map(each => ({
                  traceId: each.traceId,
                  spanId: each.spanId,
                  ...(each.parentId !== undefined && { parentSpanId: each.parentId }),
                  name: each.name,
                  kind: { internal: 1, server: 2, client: 3, consumer: 5 }[each.kind],
                  startTimeUnixNano: nanoseconds(each.startedAt),
                  endTimeUnixNano: nanoseconds(each.endedAt ?? each.startedAt),
                  attributes: [
                    ...told(each.attributes),
                    ...told(each.lateAttributes ?? {}),
                    ...told({ 'error.type': each.fault }),
                  ],
                  ...(each.fault !== undefined && { status: { code: 2 } }),
                  flags: 1,
                })),
              },
            ],
          },
        ],
      })
    }),
  )
})

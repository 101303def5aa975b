import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createExporter } from '../../src/telemetry/exporter.ts'
import type { Span } from '../../src/telemetry/spans.ts'
import { createSpanId, createTraceId } from '../../src/telemetry/trace-context.ts'
import { startCollector } from '../support/collector.ts'

const collector = await startCollector()
after(() => collector.close())

const createSpan = (): Span => ({
  traceId: createTraceId(),
  spanId: createSpanId(),
  isSampled: true,
  parentId: undefined,
  name: 'select customer',
  kind: 'client',
  startedAt: 1,
  endedAt: 2,
  attributes: { 'db.system.name': 'postgresql' },
  lateAttributes: undefined,
  errorType: undefined,
  childCount: 0,
})

test('spans are exported in batches and once each', async () => {
  const url = `${collector.url}/v1/traces`
  const exporter = createExporter({ url, headers: {}, resource: {}, version: '1.2.3', onChange: () => assert.fail() })
  const startedAt = performance.now()
  const spans = Array.from({ length: 6_000 }, createSpan)
  for (let i = 0; i < spans.length; i += 100) {
    for (const recorded of spans.slice(i, i + 100)) exporter.record(recorded)
    await delay(5)
  }
  await exporter.close(10_000)
  assert.deepEqual(exporter.counts(), { sent: spans.length, lost: 0 })
  assert.deepEqual(collector.errors, [])
  const listIds = (spanList: readonly { spanId: string }[]) => spanList.map(({ spanId }) => spanId).sort()
  assert.deepEqual(listIds(collector.spans), listIds(spans))
  // Full batches, one batch per second, and the last batch on close.
  const maxRequests = 4 + (performance.now() - startedAt) / 1_000
  assert.ok(collector.bodies.length <= maxRequests, `${collector.bodies.length} requests`)
})

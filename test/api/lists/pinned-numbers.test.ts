import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { decodePositions, encodePositions } from '../../../src/store/change-feed/positions.ts'
import { listNumbers } from '../../../src/store/lists/change-timestamp.ts'
import { cursorFields, readCursor, writeCursor } from '../../../src/store/lists/cursor.ts'
import { maxColumns, mergeRows } from '../../../src/store/lists/merge.ts'

const service = { id: 1 } as Service

test('the lock numbers of lists never change', () => {
  assert.deepEqual(listNumbers, {
    store: 1,
    staff: 2,
    product: 3,
    stock: 4,
    customer: 5,
    retail_transaction: 6,
    sales_order: 7,
    sales_return: 8,
    reward_account: 9,
    shipment: 10,
  })
})

test('the fields of a cursor never change their positions', () => {
  assert.deepEqual(cursorFields, { asOf: 0, order: 1, key: 2 })
  const scope = { service, list: '/staff', filters: {}, key: Buffer.from('key') }
  const asOf = '2026-11-21T09:31:27.803870Z'
  const payload = (cursor: string) => Buffer.from(cursor, 'base64url').subarray(16).toString()
  const first = writeCursor(scope, { asOf, position: undefined })
  assert.equal(payload(first), JSON.stringify([asOf]))
  const next = writeCursor(scope, { asOf, position: '0/1A', after: ['a', 'b'] })
  assert.equal(payload(next), JSON.stringify({ at: [asOf, 'a', 'b'], position: '0/1A' }))
  assert.deepEqual(readCursor(scope, next), { asOf, position: '0/1A', after: ['a', 'b'] })
})

test('positions in the change feed are encoded in a fixed order', () => {
  const [kinds, encoded] = [['store', 'customer'] as const, [7, [9, 'c1', 8, '']] as const]
  const positions = decodePositions(kinds, [...encoded])
  assert.deepEqual(positions.get('customer'), { changed: [9, 'c1'], removed: [8, ''] })
  assert.deepEqual(encodePositions(positions), encoded)
})

test('a merged table with more columns than mask bits is rejected', () => {
  const columns = ['service_id', 'id', ...Array.from({ length: maxColumns - 1 }, (_, i) => `c${i}`)]
  assert.throws(() => mergeRows(service, { name: 't', key: ['id'], columns }, [], 'm'), /at most 53 columns, not 54/)
  mergeRows(service, { name: 't', key: ['id'], columns: columns.slice(1) }, [], 'm')
})

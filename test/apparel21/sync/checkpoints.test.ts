import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { getCheckpoint, toLocalTime } from '../../../src/backoffice/apparel21/syncs/checkpoint.ts'

const timeZone = 'Australia/Melbourne'

const findCheckpoint = (newest: string | undefined, began: string, tookSeconds = 0) =>
  getCheckpoint({ newest, beganMs: Date.parse(began), tookMs: tookSeconds * 1_000 }, { timeZone, overlapSeconds: 600 })

test('a sync continues after the newest change minus duration and overlap', () => {
  assert.equal(findCheckpoint('2026-06-01T10:00:00', '2026-06-01T00:10:00Z'), '2026-06-01T09:50:00')
  assert.equal(findCheckpoint('2026-06-01T10:00:00', '2026-06-01T00:10:00Z', 1_800), '2026-06-01T09:20:00')
  assert.equal(findCheckpoint(undefined, '2026-06-01T00:10:00Z'), undefined)
})

test('a back office clock ahead or behind loses no change', () => {
  assert.equal(findCheckpoint('2026-06-01T11:30:00', '2026-06-01T00:00:00Z'), '2026-06-01T09:50:00')
  assert.equal(findCheckpoint('2026-06-01T09:00:00', '2026-06-01T00:00:00Z'), '2026-06-01T08:50:00')
})

test('an ambiguous hour is read from its beginning', () => {
  // On 5 April 2026, Melbourne's clocks go back from 3:00 to 2:00, at 16:00 UTC on 4 April.
  for (const [newest, began] of [
    ['2026-04-05T02:59:00', '2026-04-04T15:59:30Z'],
    ['2026-04-05T02:59:00', '2026-04-04T16:59:30Z'],
    ['2026-04-05T03:05:00', '2026-04-04T17:06:00Z'],
  ] as const)
    assert.equal(findCheckpoint(newest, began), '2026-04-05T01:50:00')
  assert.equal(findCheckpoint('2026-04-05T03:10:00', '2026-04-04T17:11:00Z'), '2026-04-05T03:00:00')
  assert.equal(findCheckpoint('2026-04-05T02:09:00', '2026-04-04T15:10:00Z'), '2026-04-05T01:59:00')
})

test('a skipped hour does not count', () => {
  // On 4 October 2026, Melbourne's clocks go forward from 2:00 to 3:00, at 16:00 UTC on 3 October.
  assert.equal(findCheckpoint('2026-10-04T03:05:00', '2026-10-03T16:05:30Z'), '2026-10-04T01:55:00')
})

test('a change of an ambiguous hour is never before the checkpoint', () =>
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 10_800 }),
      fc.integer({ min: 0, max: 10_800 }),
      fc.integer({ min: 0, max: 600 }),
      (a, b, took) => {
        const from = Date.parse('2026-04-04T14:30:00Z') / 1_000
        const [newestSeconds, later] = [from + Math.min(a, b), from + Math.max(a, b)]
        const newestLocalTime = toLocalTime(newestSeconds * 1_000, timeZone)
        const since = findCheckpoint(newestLocalTime, new Date((newestSeconds + 1) * 1_000).toISOString(), took) ?? ''
        // The checkpoint includes every change since the sync began.
        assert.ok(
          toLocalTime(later * 1_000, timeZone) >= since,
          `${toLocalTime(later * 1_000, timeZone)} before ${since}`,
        )
        assert.ok(toLocalTime((newestSeconds - took) * 1_000, timeZone) >= since)
      },
    ),
  ))

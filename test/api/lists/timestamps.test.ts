import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isAtLeast, isRelease } from '../../../src/domain/values/release.ts'
import { readTimestamp } from '../../../src/domain/values/timestamp.ts'

const zone = fc.constantFrom(
  'UTC',
  'Australia/Melbourne',
  'Europe/London',
  'America/St_Johns',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Africa/Cairo',
)
const instant = fc
  .bigInt(-62_135_000_000_000_000n, 253_402_000_000_000_000n)
  .map(microseconds => Temporal.Instant.fromEpochNanoseconds(microseconds * 1_000n))
const utc = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/

test('an RFC 3339 time with any offset is read as that instant', () => {
  fc.assert(
    fc.property(instant, zone, fc.integer({ min: -1_439, max: 1_439 }), (time, timeZone, offset) => {
      const sign = offset < 0 ? '-' : '+'
      const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map(n =>
        String(n).padStart(2, '0'),
      )
      const text = time.toString({ timeZone: `${sign}${hours}:${minutes}`, fractionalSecondDigits: 6 })
      if (!/^\d{4}-/.test(text)) return
      assert.equal(readTimestamp(text, timeZone), time.toString({ fractionalSecondDigits: 6 }))
    }),
  )
})

test('an unambiguous wall-clock time round-trips; an ambiguous one means the first', () => {
  fc.assert(
    fc.property(instant, zone, fc.constantFrom('T', ' '), (time, timeZone, separator) => {
      const localTime = time
        .toZonedDateTimeISO(timeZone)
        .toPlainDateTime()
        .round({ smallestUnit: 'second', roundingMode: 'floor' })
      const text = localTime.toString({ smallestUnit: 'second' }).replace('T', separator)
      if (!/^(?!0000)\d{4}-/.test(text) || !/^(?!0000)\d{4}-/.test(time.toString())) return
      const read = readTimestamp(text, timeZone)
      assert.ok(read, text)
      const parsed = Temporal.Instant.from(read)
      assert.ok(parsed.toZonedDateTimeISO(timeZone).toPlainDateTime().equals(localTime))
      assert.ok(Temporal.Instant.compare(parsed, time) <= 0, 'never later than the intended time')
    }),
  )
})

test('a date means its first instant, usually midnight', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('0002-01-01'), max: new Date('9998-12-31'), noInvalidDate: true }),
      zone,
      (date, timeZone) => {
        const day = date.toISOString().slice(0, 10)
        const midnight = readTimestamp(`${day}T00:00`, timeZone)
        assert.equal(readTimestamp(`${day} 00:00:00`, timeZone), midnight)
        if (midnight) assert.equal(readTimestamp(day, timeZone), midnight)
      },
    ),
  )
})

test('only a day that exists in the calendar is accepted', () => {
  const pad = (n: number) => String(n).padStart(2, '0')
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9_998 }),
      fc.integer({ min: 0, max: 14 }),
      fc.integer({ min: 0, max: 33 }),
      (year, month, day) => {
        const exists =
          month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
        const text = `${String(year).padStart(4, '0')}-${pad(month)}-${pad(day)}`
        assert.equal(readTimestamp(text, 'UTC') !== undefined, exists, text)
        assert.equal(readTimestamp(`${text}T10:00:00Z`, 'UTC') !== undefined, exists, text)
      },
    ),
  )
})

/** Times in or next to the years 0 and 10000, which PostgreSQL can't store in this format. */
const edges = [
  '0000-01-01',
  '0001-01-01',
  '0000-12-31T23:59:59Z',
  '0001-01-01T00:00:00+00:01',
  '9999-12-31T23:59:59-00:01',
]

test('any string parses to a UTC time or to nothing', () => {
  const digits = fc.stringMatching(
    /^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?)?(Z|[+-][0-9]{2}:[0-9]{2})?$/,
  )
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), digits), zone, (text, timeZone) => {
      const read = readTimestamp(text, timeZone)
      if (read === undefined) return
      assert.match(read, utc)
      assert.ok(!read.startsWith('0000'))
    }),
    { numRuns: 2_000, examples: edges.map(text => [text, 'Australia/Melbourne']) },
  )
})

test('timestamps sort like their strings', () => {
  fc.assert(
    fc.property(instant, instant, (a, b) => {
      const [first, other] = [readTimestamp(a.toString(), 'UTC'), readTimestamp(b.toString(), 'UTC')]
      assert.ok(first && other)
      assert.equal(Math.sign(Temporal.Instant.compare(a, b)), first < other ? -1 : first > other ? 1 : 0)
    }),
  )
})

const versionParts = fc.record({
  year: fc.integer({ min: 1_000, max: 9_999 }),
  number: fc.integer({ min: 0, max: 999 }),
  letter: fc.constantFrom('', ...'abcdefghijklmnopqrstuvwxyz'),
})
type Parts = { year: number; number: number; letter: string }
const toRelease = ({ year, number, letter }: Parts) => `${year}.${number}${letter}`

test('back office versions compare by year, then number, then letter', () => {
  fc.assert(
    fc.property(versionParts, versionParts, (a, b) => {
      const order = a.year - b.year || a.number - b.number || (a.letter < b.letter ? -1 : a.letter > b.letter ? 1 : 0)
      assert.equal(isAtLeast(toRelease(a), toRelease(b)), order >= 0)
    }),
  )
  for (const [later, earlier] of [
    ['2022.10', '2022.2'],
    ['2022.1', '2021.99'],
    ['2022.1a', '2022.1'],
    ['2023.4b', '2023.4a'],
    ['2023.1', '2022.10z'],
  ] as const) {
    assert.ok(isAtLeast(later, earlier))
    assert.ok(!isAtLeast(earlier, later))
    assert.ok(isAtLeast(later, later))
  }
})

test('an invalid version is older than every version', () => {
  for (const text of [
    '',
    '2022',
    '2022.',
    '.1',
    '22.1',
    '2022.1.1',
    'v2022.1',
    '2022.1A',
    '2022.1ab',
    '2022.1000',
    ' 2022.1',
    '2022.1\n',
    '2022,1',
    '<html>',
    '２０２５.1',
    'NaN',
    '__proto__',
  ]) {
    assert.ok(!isRelease(text), JSON.stringify(text))
    assert.ok(!isAtLeast(text, '2022.1'), JSON.stringify(text))
  }
  fc.assert(
    fc.property(fc.string(), text => {
      if (!isRelease(text)) assert.ok(!isAtLeast(text, '1000.0'))
    }),
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  parseLocalTime,
  readAmount,
  readBoolean,
  readDate,
  readDecimal,
  readInteger,
  readLocalTime,
  readPercentage,
  readText,
} from '../../../src/backoffice/apparel21/xml/values.ts'
import { parseXmlDocument } from '../../support/xml-document.ts'

const parseFields = (content: string) => parseXmlDocument(`<a>${content}</a>`)

test('texts are trimmed and empty texts become null', async () => {
  const a = await parseFields(
    '<X>  DFO Airport \n</X><Y>one&#xD;\ntwo</Y><Z /><N xsi:nil="true" /><C><![CDATA[<b>]]></C>',
  )
  const names = ['X', 'Y', 'Z', 'N', 'C', 'Missing']
  assert.deepEqual(
    names.map(name => readText(a, name)),
    ['DFO Airport', 'one\ntwo', null, null, '<b>', null],
  )
})

test('flags are read in any case', async () => {
  const a = await parseFields('<T>True</T><F>false </F><O>1</O><E/>')
  assert.deepEqual(
    ['T', 'F', 'O', 'E', 'Missing'].map(name => readBoolean(a, name)),
    [true, false, null, null, null],
  )
})

test('numbers are compared by value', async () => {
  const cases: [string, string | null, string | null, number | null][] = [
    ['147', '147', '147.00', 147],
    ['59.90', '59.9', '59.90', null],
    ['-345.00', '-345', '-345.00', -345],
    ['007', '7', '7.00', 7],
    ['.5', '0.5', '0.50', null],
    ['-0.00', '0', '0.00', 0],
    ['1.005', '1.005', '1.01', null],
    ['-1.005', '-1.005', '-1.01', null],
    ['99.999', '99.999', '100.00', null],
    ['99999999999', '99999999999', '99999999999.00', null],
    ['1,5', null, null, null],
    ['1E3', null, null, null],
    ['', null, null, null],
    ['.', null, null, null],
    ['-', null, null, null],
  ]
  for (const [input, plain, amount, integer] of cases) {
    const a = await parseFields(`<N>${input}</N>`)
    assert.deepEqual(
      [input, readDecimal(a, 'N'), readAmount(a, 2, 'N'), readInteger(a, 'N')],
      [input, plain, amount, integer],
    )
  }
  const a = await parseFields('<N>1234.5</N><P>13.337779</P><Q>-5</Q><D>8.663333333333333333333333333</D>')
  assert.equal(readAmount(a, 2, 'D'), '8.66', 'a .NET decimal has up to 28 digits')
  assert.deepEqual(
    [readAmount(a, 0, 'N'), readAmount(a, 3, 'N'), readPercentage(a, 'P'), readPercentage(a, 'Q')],
    ['1235', '1234.500', '13.3378', null],
  )
})

test("every amount with its currency's decimals is read exactly", () =>
  fc.assert(
    fc.asyncProperty(fc.bigInt({ min: -(10n ** 13n), max: 10n ** 13n }), async units => {
      const digits = String(units < 0n ? -units : units).padStart(3, '0')
      const amount = `${units < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
      assert.equal(readAmount(await parseFields(`<N>${amount}0</N>`), 2, 'N'), amount)
    }),
    { numRuns: 100 },
  ))

test('both timestamp formats are read and nonexistent dates are rejected', () => {
  const cases: [string, string | null][] = [
    ['6/05/2010 4:32:15 PM', '2010-05-06T16:32:15'],
    ['20/03/2012 10:39:55 AM', '2012-03-20T10:39:55'],
    ['15/10/2016 12:15:07 PM', '2016-10-15T12:15:07'],
    ['15/10/2016 12:15:07 AM', '2016-10-15T00:15:07'],
    ['6/05/2010 4:32:15\u202fpm', '2010-05-06T16:32:15'],
    ['6/05/2010 4:32:15 p.m.', '2010-05-06T16:32:15'],
    ['06.05.2010 16:32:15', '2010-05-06T16:32:15'],
    ['5/26/2010 4:32:15 PM', '2010-05-26T16:32:15'],
    ['2017-09-28T13:28:02', '2017-09-28T13:28:02'],
    ['2024-05-29T14:20:07.76', '2024-05-29T14:20:07'],
    ['2024-05-29', '2024-05-29T00:00:00'],
    ['2023-02-30', null],
    ['31/04/2023 1:00:00 PM', null],
    ['0001-01-01T00:00:00', null],
    ['yesterday', null],
    ['', null],
  ]
  for (const [input, wall] of cases) assert.deepEqual([input, parseLocalTime(input)], [input, wall])
})

test('times with an offset are converted, and dates are read as written', async () => {
  const cases: [string, string | null][] = [
    ['2024-05-06T16:32:15Z', '2024-05-07T02:32:15'],
    ['2024-05-06T16:32:15.123+00:00', '2024-05-07T02:32:15'],
    ['2024-05-06T16:32:15+10:00', '2024-05-06T16:32:15'],
    ['2024-05-06 16:32 -0500', '2024-05-07T07:32:00'],
    ['2024-05-06T16:32:15', '2024-05-06T16:32:15'],
    ['2024-05-06T16:32:15+99:00', null],
  ]
  for (const [input, wall] of cases) assert.equal(parseLocalTime(input, 'Australia/Melbourne'), wall, input)
  const a = await parseFields('<D>1980-02-29T00:00:00+10:00</D><Z>1980-02-29T00:00:00Z</Z>')
  assert.deepEqual([readDate(a, 'D'), readDate(a, 'Z')], ['1980-02-29', '1980-02-29'])
})

test("dates and local times are written in the service's format", async () => {
  const a = await parseFields('<D>1980-02-29</D><T>2024-05-26T00:00:00</T><E />')
  assert.deepEqual([readDate(a, 'D'), readDate(a, 'T'), readDate(a, 'E')], ['1980-02-29', '2024-05-26', null])
  assert.deepEqual(
    [readLocalTime(a, 'D'), readLocalTime(a, 'T'), readLocalTime(a, 'E')],
    ['1980-02-29 00:00:00', '2024-05-26 00:00:00', null],
  )
})

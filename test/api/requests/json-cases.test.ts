import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertCreatesNoCustomer } from '../../support/customer-bodies.ts'
import { startTestApi } from '../../support/service.ts'
import { post } from '../../support/write.ts'

// JSON parser cases from the grammar of RFC 8259: mandatory, invalid and optional JSON. No case is a valid customer.
// The schema rejects parsed bodies with `invalid_body`. The parser rejects other bodies with `malformed_json`.

const api = await startTestApi({ settings: { writesPerMinute: 'off' } })
after(() => api.stop())

type Body = string | Buffer
const toBuffer = (...values: number[]) => Buffer.from(values)
const quoted = (...values: number[]) => toBuffer(0x22, ...values, 0x22)

/** Splits bodies at line breaks and double spaces. */
const splitBodies = (text: string) => text.trim().split(/\n| {2}/)

/** JSON that every parser must read. */
const valid: Body[] = [
  ...splitBodies(String.raw`
null  true  false  0  42  -1  0.5  -0.25  ""  "a"  []  {}  [[]]  [{}]  {"":0}  [null]  [null, 1, "1", {}]  [[[[]]]]
[1,null,null,null,2]  ["",[],{},null,true,false,0]  [1.25,-12.5]  [1 , 2]  { "a" : 1 }  {"a":[]}  {"a":"b","c":"d"}
{"a":{"b":{"c":null}}}  {"min":-1.5,"max":1.5}  {"a\u0000b":1}  {"\u0061\u30af":1}  {"a b":1}  "\""  "\\"  "\/"
"\b\f\n\r\t"  "\u0000"  "\u0012"  "\u005C"  "\uD801\udc37"  "\ud83d\ude39"  "\uFFFF"  "\uFDD0"  "\u200B"  "\u2064"
"\ufeff"  "\u002c"  "\\a"  "\\n"  "a/*b*/c/*d//e"  " "  [100000000000000]  [9007199254740991]  [0.1]  [1.10]  [20.00]
"\u0060\u012a\u12AB"`),
  ...(JSON.parse(String.raw`[
" []", "[] ", "\t[ ]\n", "\r\n{\t}\r\n", "[1\n]", "\"\u007f\"", "\"\u00e9\"", "\"\u2028\"", "\"\u2029\"",
"\"\ud834\udd1e\"", "\"\udbff\udfff\"", "\"\ufffe\"", "\"\u20ac\ud834\udd1e\"", "\"new\u00a0line\"",
"\"\ufdd0\ud83f\udffe\""]`) as string[]),
]

/** JSON that other parsers accept, although it loses data or repeats a member. It is rejected. */
const rejectedBodies: Body[] = [
  ...splitBodies(`
1e1  1E1  1e+2  1E+2  1E-2  0e1  0e+1  -0  -0.0  123e45  1.5e3  123.456e78  {"a":1,"a":2}  {"a":1,"a":1}
[{"b":{"a":1,"a":[]}}]`),
]

/** Cases that a parser can accept or reject. */
const optionalCases: { [body: string]: 'invalid_body' | 'malformed_json' } = {
  '123123e100000': 'malformed_json',
  '-1e9999': 'malformed_json',
  '0.4e-10000000': 'malformed_json',
  '1.5e+9999': 'malformed_json',
  '100000000000000000000': 'malformed_json',
  '-237462374673276894279832749832423479823246327846': 'malformed_json',
  [`0.${'0'.repeat(80)}1`]: 'malformed_json',
  '"\\uDADA"': 'invalid_body',
  '"\\uD888\\u1234"': 'invalid_body',
  '"\\uD800\\n"': 'invalid_body',
  '"\\uD800\\uD800"': 'invalid_body',
  '"\\ud800abc"': 'invalid_body',
  '"\\uDd1e\\uD834"': 'invalid_body',
  '"\\uDFAA"': 'invalid_body',
  '{"\\uDFAA":0}': 'invalid_body',
  '\ufeff{}': 'invalid_body',
  [`${'['.repeat(500)}${']'.repeat(500)}`]: 'malformed_json',
}
const optionalBytes: Body[] = [
  quoted(0xe0, 0xff),
  quoted(0xff),
  quoted(0x81),
  quoted(0xe9),
  quoted(0xc0, 0xaf),
  quoted(0xe0, 0x80, 0xaf),
  quoted(0xf4, 0xbf, 0xbf, 0xbf),
  quoted(0xf8, 0x88, 0x80, 0x80, 0x80),
  quoted(0xfc, 0x83, 0xbf, 0xbf, 0xbf, 0xbf),
  quoted(0xed, 0xa0, 0x80),
  quoted(0xe6, 0x97),
  Buffer.from('["é"]', 'utf16le'),
  Buffer.from('\ufeff["é"]', 'utf16le'),
  Buffer.from('["é"]', 'utf16le').swap16(),
]

/** Cases that are not JSON. */
const invalid: Body[] = [
  ...splitBodies(String.raw`
[  ]  [1  [1,  [,]  [,1]  [1,,2]  [1,]  [1,,]  ["a",]  ["a"  ["",  []]  [[]  [1 2]  ["a" "b"]  [1:2]  ["":1]  ["x"]]
[-]  [3[4]]  [1]x  [}  [<null>]  [*]  ["  [a  [a]  [{  [{}  ["a  ["asd  ["asd]  [1}  [nul]  [tru]  [fals]  [Null]
[TRUE]  [True]  nulll  truee  n  tru  True  [truth]  None  nil  undefined  [+1]  [++1234]  [-01]  [-1.0.]  [-2.]
[-NaN]  [.-1]  [.2e-3]  [0.1.2]  [0.3e+]  [0.3e]  [0.e1]  [0E]  [0E+]  [0e]  [0e+]  [1.0e+]  [1.0e-]  [1.0e]
[1 000.0]  [1eE2]  [2.e+3]  [2.e-3]  [2.e3]  [9.e+]  [Inf]  [NaN]  [1+2]  [0x1]  [0x42]  [Infinity]  [-Infinity]
[0e+-1]  [-123.123foo]  [- 1]  [-012]  [-.123]  [-1x]  [1ea]  [1.]  [.123]  [1.2a-3]  [1.8011670033376514H-308]  [012]
00  01  -  +  .  1.  .5  1_000  1n  0b1  0o7  {  }  {"a"  {"a":  {"a":"a  {"a":"b"  {"a":1,}  {"a":"b",,"c":"d"}  {,}
{"x"::"b"}  {"a" "b"}  {:"b"}  {"a" b}  {key: "value"}  {a:'b'}  {'a':0}  {1:1}  {9999E9999:1}  {null:null,null:null}
{"id":0,,,,,}  {"a":true} "x"  {"a":"b"}#  {"a":"b"}#{}  {"a":"b"}/  {"a":"b"}/**/  {"a":"b"}/**//  {"a":"b"}//
{"a":/*c*/"b"}  {[: "x"}  {"x", null}  {]  {"a":1 true:1}  {"x":nul}  {{}}  {"a"}  {"a":}  {"a",  {"a":0]
{"a":"a" 123}  {"\uD8  "  "a  'a'  abc  "\"  "\x00"  "\\\"  "\u00A"  "\uD834\uDd"  "\uD800\u"  "\uD800\u1"
"\uD800\u1x"  "\a"  "\v"  "\0"  "\'"  "\uqqqq"  "\U0041"  "\u{41}"  "a"x  """"  "a" "b"  \u000A""  [\u0020"asd"]  "\u"
"\u 041"  {}}  {}{}  [][]  1 2  {} // a  /* a */ {}  <.>  <null/>  *  &  ?  {"asd":"asd"  ;{}  ({})  callback({})`),
  ...(JSON.parse(String.raw`[
"[\"a\",\n4\n,1,", "[1,\n1\n,1", "[   , \"\"]", "[\u000b]", "[\f]", "[\u2060]", "[1\u00a0]", "\u2060[]", "[\n",
"[\uff11]", "{\ud83c\udde8\ud83c\udded}", "\u0060a\u0060", "\u201ca\u201d", "\"\\", "\"\\\t\"",
"\"\\\ud83c\udf00\"", "\"\\\n\"", "\"a\u0000a\"", "\"new\nline\"", "\"\t\"", "\"\r\"", "\"\u001f\"", "\"\b\"",
"\"\u001b[31m\"", "\u00e9", "", " ", "\n", "\u0000", "{}\u0000", "[]\u0000", "\u0000[]", "# a\n{}", "\u2029{}",
"\u00a0{}", "\u3000{}", "\ufeff\ufeff{}", "\ufeff", "a\u00e5", "[1]\f", "\u001e{}"]`) as string[]),
  toBuffer(0xef, 0xbb, 0x7b, 0x7d),
  toBuffer(0xe9),
  toBuffer(0x5b, 0xff, 0x5d),
  toBuffer(0x7b, 0x22, 0xb9, 0x22, 0x3a, 0x30, 0x7d),
  toBuffer(0x5b, 0x31, 0xe5, 0x5d),
  '['.repeat(100_000),
  '[{"":'.repeat(50_000),
]

async function assertAll(code: string, bodies: Body[]) {
  const wrong: string[] = []
  for (const body of bodies) {
    const { status, json } = await post(api, '/customers', body)
    if (status !== 400 || json.code !== code)
      wrong.push(`${JSON.stringify(body.toString()).slice(0, 80)}: ${status} ${json?.code}`)
  }
  assert.deepEqual(wrong, [])
}

test('every mandatory JSON case is parsed and rejected by schema', () =>
  assertCreatesNoCustomer(api, () => assertAll('invalid_body', valid)))

test('every invalid JSON case is rejected', () =>
  assertCreatesNoCustomer(api, () => assertAll('malformed_json', invalid)))

test('an optional JSON case is parsed if storable, except inexact numbers', () =>
  assertCreatesNoCustomer(api, async () => {
    for (const [body, code] of Object.entries(optionalCases)) await assertAll(code, [body])
    await assertAll('malformed_json', [...rejectedBodies, ...optionalBytes])
  }))

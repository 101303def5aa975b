import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extractPassages } from '../../scripts/prose/extract.ts'
import { checkProse, statesRule } from '../../scripts/prose/plain-english.ts'

const getMessages = (text: string) => checkProse(text).map(({ message }) => message)

test('a plain sentence has no findings', () => {
  assert.deepEqual(getMessages('Returns the account, or undefined if it does not exist.'), [])
})

test('a private word is reported with its replacement', () => {
  assert.deepEqual(getMessages('The client is told.'), ['"told": write report, return, send, log, show'])
})

test('a sentence without a named subject is reported', () => {
  assert.deepEqual(getMessages('It works. Where it fails, it stops.'), ['sentence begins with "Where"'])
  assert.deepEqual(getMessages('What is a voucher?'), [])
})

test('a sentence of more than 30 words is reported', () => {
  assert.deepEqual(getMessages(`${'word '.repeat(30)}end.`), ['sentence of 31 words'])
})

test('code and quotations are not checked', () => {
  assert.deepEqual(getMessages('The column `told` is called "told".'), [])
})

test('comments, messages and titles are found with their lines', () => {
  const source =
    "// A first line.\n// A second line.\ntest('a title of a test', () => {})\nthrow new Error('not found here')\n"
  assert.deepEqual(extractPassages('a.ts', source), [
    { text: 'A first line. A second line.', line: 1, kind: 'comment' },
    { text: 'a title of a test', line: 3, kind: 'title' },
    { text: 'not found here', line: 4, kind: 'string' },
  ])
})

test('a message that states a rule as a fact is recognised', () => {
  assert.equal(statesRule('SECRET_KEY has at least 32 characters.'), true)
  assert.equal(statesRule('SECRET_KEY must have at least 32 characters; it has 12.'), false)
})

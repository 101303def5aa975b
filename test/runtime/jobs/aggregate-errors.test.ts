import assert from 'node:assert/strict'
import { test } from 'node:test'
import { throwErrors } from '../../../src/jobs/job.ts'

test('a job keeps all errors of its parts', () => {
  throwErrors([], 'no part failed')
  const [first, second] = [new Error('first'), new Error('second')]
  assert.throws(() => throwErrors([first], 'one part failed'), first)
  assert.throws(
    () => throwErrors([first, second], 'two parts failed'),
    (error: AggregateError) => error.message === 'two parts failed' && error.errors.length === 2,
  )
})

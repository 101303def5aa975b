import assert from 'node:assert/strict'
import { type ErrorCode, errorCodes } from '../../src/errors/api-error.ts'
import type { TestResponse } from './service.ts'

/** Matches internals that must not appear in a response: SQL, stacks, paths, addresses, versions, names of dependencies. */
const internals =
  /select |insert |update |delete from|relation "|column "|syntax error|at \S+ \(|\.ts\b|\.js\b|node_modules|node:|\/work\/|\/tmp\/|\/home\/|\/usr\/|127\.0\.0\.1|\.s\.PGSQL|postgres|fastify|FST_|HPE_|ECONN|SQLSTATE|\bpg\b|v\d+\.\d+\.\d+/i

/** Asserts that a response is a problem (RFC 9457) with this code, hides internals and has the common headers. */
export function assertProblem(
  response: Pick<TestResponse, 'status' | 'headers' | 'json' | 'text'>,
  code: ErrorCode,
  baseUrl: string,
  path?: string,
) {
  const context = `${path ?? ''} ${response.text.slice(0, 300)}`
  const { json, headers } = response
  const { status, title } = errorCodes[code]
  assert.equal(response.status, status, context)
  assert.equal(headers['content-type'], 'application/problem+json; charset=utf-8', context)
  assertCommonHeaders(response)
  const { detail, instance, errors, lockedUntil, reason, ...extensions } = json
  assert.deepEqual(
    extensions,
    { type: `${baseUrl}/errors/${code}`, title, status, code, requestId: headers['x-request-id'] },
    context,
  )
  if (code === 'internal_error')
    assert.deepEqual([detail, instance, errors], [undefined, undefined, undefined], context)
  else assert.equal(typeof detail, 'string', context)
  if (path !== undefined && code !== 'internal_error') assert.equal(instance, path.split('?')[0], context)
  assert.equal(lockedUntil !== undefined, code === 'voucher_locked', context)
  if (reason !== undefined) assert.equal(code, 'voucher_unusable', context)
  for (const { parameter, pointer, available, requested, ...fieldError } of errors ?? []) {
    assert.equal(available !== undefined && requested > available, fieldError.code === 'insufficient_stock', context)
    assert.deepEqual(Object.keys(fieldError).sort(), ['code', 'detail'], context)
    assert.ok(Object.hasOwn(errorCodes, fieldError.code), context)
    // Each field error has a parameter or a pointer, except `voucher_not_configured`.
    assert.ok(parameter === undefined || pointer === undefined, context)
    if (parameter !== undefined) assert.match(parameter, /^[\w.?-]*$/, context)
    if (pointer !== undefined) assert.match(pointer, /^(\/[^/]*)*$/, context)
    if (parameter === undefined && pointer === undefined)
      assert.equal(fieldError.code, 'voucher_not_configured', context)
  }
  const { type: _, instance: __, ...shared } = json
  assert.doesNotMatch(JSON.stringify(shared), internals)
}

/** Returns the field errors in short form: `/lines/0/sku unknown_sku`. */
export const getFieldErrors = ({ json }: Pick<TestResponse, 'json'>): string[] =>
  json.errors.map((fieldError: { pointer: string; code: string }) => `${fieldError.pointer} ${fieldError.code}`)

/** Returns the detail of each field error. */
export const getErrorDetails = ({ json }: Pick<TestResponse, 'json'>): string[] =>
  json.errors.map((fieldError: { detail: string }) => fieldError.detail)

/** Asserts the headers of every response. */
export function assertCommonHeaders({ headers }: Pick<TestResponse, 'headers'>) {
  assert.match(String(headers['x-request-id']), /^[\w.:-]{1,128}$/)
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal(headers['strict-transport-security'], 'max-age=63072000; includeSubDomains')
  assert.match(String(headers['cache-control']), /^(no-store|public, max-age=\d+)$/)
  for (const name of ['server', 'x-powered-by', 'via', 'access-control-allow-origin', 'set-cookie'])
    assert.equal(headers[name], undefined, name)
}

/** Returns a response without the parts that differ for each request. */
export const withoutRequestData = ({ status, headers, json }: TestResponse) => {
  const { date: _, 'x-request-id': __, 'content-length': ___, ratelimit: ____, ...otherHeaders } = headers
  return { status, headers: otherHeaders, json: { ...json, instance: '', requestId: '' } }
}

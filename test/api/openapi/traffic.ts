import assert from 'node:assert/strict'
import { sql } from '../../../src/database/db.ts'
import type { ErrorCode } from '../../../src/errors/api-error.ts'
import { compileSchemas, createConformanceCheck, type Node, toPointer } from '../../support/conformance.ts'
import { cloneDemoDatabase } from '../../support/demo/demo-database.ts'
import { type Caller, startTestApi, type TestApi, type TestResponse } from '../../support/service.ts'
import { post, put, remove } from '../../support/write.ts'

type Headers = Record<string, string | string[] | undefined>
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Sends requests to a demo shop. Checks each response against the OpenAPI document that the shop serves. */
export interface Traffic {
  api: TestApi
  document: Node
  check: ReturnType<typeof createConformanceCheck>
  /** All requests and responses, by operation. */
  exchanges: { operation: string | undefined; response: TestResponse }[]
  checkResponse(method: Method, path: string, pending: Promise<TestResponse>): Promise<TestResponse>
  get(path: string, headers?: Headers, caller?: Caller): Promise<TestResponse>
  getWithoutCredentials(path: string, headers?: Headers): Promise<TestResponse>
  /** Sends a body. If Tillbridge accepts it, it must match the document. */
  post(path: string, body: unknown, headers?: Record<string, string>, caller?: Caller): Promise<TestResponse>
  put(path: string, body: unknown, headers?: Record<string, string>, caller?: Caller): Promise<TestResponse>
  remove(path: string, caller?: Caller): Promise<TestResponse>
  assertRejected(code: ErrorCode, pending: Promise<TestResponse>): Promise<TestResponse>
}

export async function startTraffic(): Promise<Traffic> {
  const api = await startTestApi({
    database: await cloneDemoDatabase(),
    environment: { TRUSTED_PROXIES: '127.0.0.1', WEBHOOK_NETWORKS: '127.0.0.0/8' },
  })
  // The traffic orders more units than the demo shop has.
  await api.db.run(
    sql`update service set settings = settings || '{"oversell":"allow"}' where service_id = ${api.service.id}`,
  )
  const document = (await api.sendRaw('/openapi.json')).json
  const check = createConformanceCheck(document)
  const findErrors = compileSchemas(document)
  const exchanges: Traffic['exchanges'] = []

  async function checkResponse(method: Method, path: string, pending: Promise<TestResponse>) {
    const response = await pending
    const { operation, errors } = check(method, path, response)
    exchanges.push({ operation, response })
    assert.deepEqual(errors, [], `${response.status} ${method} ${path}\n${response.text.slice(0, 2_000)}`)
    return response
  }

  const createWriter =
    (method: 'POST' | 'PUT', send: typeof post) =>
    async (path: string, body: unknown, headers: Record<string, string> = {}, caller: Caller = api) => {
      const response = await checkResponse(method, path, send(caller, path, body, headers))
      if (response.status < 300) assert.deepEqual(findBodyErrors(method, path, response, body), [], `${method} ${path}`)
      return response
    }

  function findBodyErrors(method: string, path: string, response: TestResponse, body: unknown) {
    const { operation } = check(method, path, response)
    const [template = '', operations] =
      Object.entries<Node>(document.paths).find(
        ([, candidates]) => candidates[method.toLowerCase()]?.operationId === operation,
      ) ?? []
    const reference: string | undefined = operations?.[method.toLowerCase()].requestBody.$ref
    const pointer = reference?.slice(1) ?? toPointer('paths', template, method.toLowerCase(), 'requestBody')
    return findErrors(
      pointer + toPointer('content', 'application/json', 'schema'),
      typeof body === 'string' ? JSON.parse(body) : body,
    )
  }

  return {
    api,
    document,
    check,
    exchanges,
    checkResponse,
    get: (path, headers, caller = api) => checkResponse('GET', path, caller.get(path, headers)),
    getWithoutCredentials: (path, headers) => checkResponse('GET', path, api.sendRaw(path, headers ? { headers } : {})),
    post: createWriter('POST', post),
    put: createWriter('PUT', put),
    remove: (path, caller = api) => checkResponse('DELETE', path, remove(caller, path)),
    async assertRejected(code, pending) {
      const response = await pending
      assert.equal(response.json?.code, code, response.text)
      return response
    },
  }
}

import assert from 'node:assert/strict'
import { createServer, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import pg from 'pg'
import { getConnection, getCurrentResponse, PgQuery } from '../../src/database/pg/internals.ts'
import { readSources } from '../support/imports.ts'

// If an update of `pg` or Node changes one of these private fields, these tests fail first.

test('only one file names private fields of pg and Node', () => {
  const privateField =
    /\b_httpMessage\b|\b_send\b|\b_result\b|\bprocessID\b|\bsubmittedNamedStatements\b|options\.Client\b/
  const users = readSources('src')
    .filter(({ text }) => privateField.test(text))
    .map(({ path }) => path)
  assert.deepEqual(users, ['src/database/pg/internals.ts'])
})

test('a query of pg has the methods that a batch overrides', () => {
  const query = new PgQuery('select 1')
  for (const name of [
    'submit',
    'handleRowDescription',
    'handleDataRow',
    'handleCommandComplete',
    'handleEmptyQuery',
    'handleReadyForQuery',
    'handleError',
  ] as const)
    assert.equal(typeof query[name], 'function', name)
  assert.equal(typeof query._result, 'object')
  assert.ok('command' in query._result)
})

test('a client of pg has the fields that are read', () => {
  const client = new pg.Client()
  const connection = getConnection(client)
  for (const name of ['sync', '_send', 'on'] as const) assert.equal(typeof connection[name], 'function', name)
  assert.deepEqual(Object.keys(connection.submittedNamedStatements), [])
  assert.equal(typeof connection.stream.destroy, 'function')
  assert.ok('processID' in client)
})

test('a socket of Node has the response that is sent next', async t => {
  const received = Promise.withResolvers<{ socket: Socket; response: ServerResponse }>()
  const server = createServer((incoming, serverResponse) =>
    received.resolve({ socket: incoming.socket, response: serverResponse }),
  )
  t.after(() => server.close())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = request({ port, host: '127.0.0.1', createConnection: () => connect(port, '127.0.0.1') })
  client.end()
  const { socket, response } = await received.promise
  assert.equal(getCurrentResponse(socket), response)
  response.end()
  await new Promise(resolve => client.once('response', incoming => incoming.resume().once('end', resolve)))
})

import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:https'
import type { RunningService } from '../rig/processes.ts'

/** A client with persistent connections that sends each write with a new Idempotency-Key. */
export interface Client {
  /** Returns the status, or 0 if there was no response. */
  send(method: 'POST' | 'PUT', path: string, body: object): Promise<number>
  /** Returns the written record. Throws if the write fails. */
  write<Data>(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Data>
  /** Returns the record. Throws if it doesn't exist. */
  read<Data>(path: string): Promise<Data>
  end(): void
}

export function createClient({ port, ca }: RunningService, username: string, password: string): Client {
  const agent = new Agent({ keepAlive: true, ca })
  const baseHeaders = {
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    'x-service-name': username,
    'content-type': 'application/json',
  }
  const sendRequest = (method: string, path: string, body?: object) =>
    new Promise<{ status: number; text: string }>(resolve => {
      const requestBody = body ? JSON.stringify(body) : ''
      const headers = {
        ...baseHeaders,
        'idempotency-key': randomUUID(),
        'content-length': Buffer.byteLength(requestBody),
      }
      const target = { host: '127.0.0.1', servername: 'localhost', port, agent, method, path, headers }
      const requested = request(target, response => {
        let text = ''
        response.setEncoding('utf8').on('data', part => {
          text += part
        })
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      requested.once('error', () => resolve({ status: 0, text: '' }))
      requested.end(requestBody)
    })
  const requireSuccess = async (method: string, path: string, body?: object) => {
    const { status, text } = await sendRequest(method, path, body)
    if (status !== 200 && status !== 201) throw new Error(`${method} ${path}: ${status} ${text}`)
    return JSON.parse(text).data
  }
  return {
    send: async (method, path, body) => (await sendRequest(method, path, body)).status,
    write: requireSuccess,
    read: path => requireSuccess('GET', path),
    end: () => agent.destroy(),
  }
}

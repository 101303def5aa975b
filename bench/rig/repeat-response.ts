import type { IncomingHttpHeaders } from 'node:http'
import { get } from 'node:https'
import type { Bench } from './bench.ts'
import type { RunningService } from './processes.ts'
import type { Scenario } from './scenarios.ts'

/** Makes the bare server send the service's response to a request. Returns its ports and the size of the response. */
export async function repeatResponse(bench: Bench, service: RunningService, scenario: Scenario) {
  const { headers, body } = await fetchOnce(service, scenario)
  const ports = await bench.bare.send({ headers, body, certificate: service.certificate })
  return { ports, bytes: Buffer.byteLength(body) }
}

/** Requests a scenario once. Returns the complete response. */
const fetchOnce = ({ port, ca }: RunningService, { path, request }: Scenario) =>
  new Promise<{ headers: Record<string, string>; body: string }>((resolve, reject) => {
    const requestHeaders = Object.fromEntries(
      request
        .trim()
        .split('\r\n')
        .slice(1)
        .map(line => line.split(': ') as [string, string]),
    )
    get({ host: '127.0.0.1', servername: 'localhost', port, ca, path, headers: requestHeaders }, response => {
      let body = ''
      response.setEncoding('utf8').on('data', chunk => {
        body += chunk
      })
      response.on('end', () => resolve({ headers: withoutVolatileHeaders(response.headers), body }))
    }).on('error', reject)
  })

/** Removes the headers that Node.js adds. */
const withoutVolatileHeaders = ({ connection: _, 'keep-alive': __, date: ___, ...headers }: IncomingHttpHeaders) =>
  headers as Record<string, string>

import { type Agent, request } from 'node:https'
import type { RunningService } from '../rig/processes.ts'

/** The account whose changes are followed. */
export interface Account {
  username: string
  password: string
  serviceName: string
}

const buildHeaders = ({ username, password, serviceName }: Account) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  'x-service-name': serviceName,
})

/** Builds the header lines of a request. */
export const buildRequestHead = (account: Account) =>
  Object.entries({ host: 'localhost', ...buildHeaders(account) })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')

/** Sends a GET request. Returns the body. Throws if the status isn't 200. */
export const fetchText = ({ port, ca }: RunningService, account: Account, path: string, agent: Agent) =>
  new Promise<string>((resolve, reject) => {
    const at = { host: '127.0.0.1', servername: 'localhost', port, ca, path }
    const requested = request({ ...at, headers: buildHeaders(account), agent }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk)).on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        if (response.statusCode === 200) resolve(text)
        else reject(new Error(`GET ${path}: ${response.statusCode} ${text}`))
      })
    })
    requested.on('error', reject).end()
  })

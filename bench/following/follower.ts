import { type Agent, request } from 'node:https'
import type { Running } from '../rig/processes.ts'

/** The account whose changes are followed. */
export interface Account {
  username: string
  password: string
  serviceName: string
}

const headersOf = ({ username, password, serviceName }: Account) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  'x-service-name': serviceName,
})

/** The lines of a request's head. */
export const headOf = (account: Account) =>
  Object.entries({ host: 'localhost', ...headersOf(account) })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')

/** Sends one request. Returns the text of the response. */
export const get = ({ port, ca }: Running, account: Account, path: string, agent: Agent) =>
  new Promise<string>((resolve, reject) => {
    const at = { host: '127.0.0.1', servername: 'localhost', port, ca, path }
    const requested = request({ ...at, headers: headersOf(account), agent }, response => {
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

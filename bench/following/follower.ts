import { Agent, type RequestOptions, request } from 'node:https'
import type { Running } from '../rig/processes.ts'

/** Whose changes are followed, and who does. */
export interface Account {
  username: string
  password: string
  serviceName: string
}

/** Told of each change when it comes, by the identifier of its record. */
export type OnChange = (id: string) => void

interface Following {
  close(): void
}

const asking = (service: Running, { username, password, serviceName }: Account, path: string): RequestOptions => ({
  host: '127.0.0.1',
  servername: 'localhost',
  port: service.port,
  ca: service.ca,
  path,
  headers: {
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    'x-service-name': serviceName,
  },
})

/** One request; the answer's text. */
export const get = (service: Running, account: Account, path: string, agent: Agent) =>
  new Promise<string>((resolve, reject) => {
    const asked = request({ ...asking(service, account, path), agent }, answer => {
      const chunks: Buffer[] = []
      answer.on('data', chunk => chunks.push(chunk)).on('error', reject)
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        if (answer.statusCode === 200) resolve(text)
        else reject(new Error(`GET ${path}: ${answer.statusCode} ${text}`))
      })
    })
    asked.on('error', reject).end()
  })

/** Follows `GET /changes/stream`; returns once it stands. */
export const byStream = (service: Running, account: Account, onChange: OnChange) =>
  new Promise<Following>((resolve, reject) => {
    const asked = request({ ...asking(service, account, '/changes/stream'), agent: false }, answer => {
      if (answer.statusCode !== 200) return reject(new Error(`The stream is ${answer.statusCode}.`))
      answer.setEncoding('utf8').on('error', () => {})
      answer.once('data', () => resolve({ close: () => asked.destroy() }))
      answer.on('data', (text: string) => {
        for (const [, id = ''] of text.matchAll(/^data: .*?"id":"([^"]+)"/gm)) onChange(id)
      })
    })
    asked.on('error', reject).end()
  })

/** Follows `GET /changes?wait=30`, over and over; returns once it has its first answer. */
export async function byLongPoll(service: Running, account: Account, onChange: OnChange): Promise<Following> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let isOver = false
  let cursor = ''
  const ask = async (wait: number) => {
    const after = cursor && `&after_cursor=${cursor}`
    const { data, meta } = JSON.parse(
      await get(service, account, `/changes?limit=1000&wait=${wait}${after}`, agent),
    ) as { data: { id: string }[]; meta: { endCursor: string } }
    cursor = meta.endCursor
    return data
  }
  await ask(0)
  const follow = async () => {
    while (!isOver) for (const { id } of await ask(30)) onChange(id)
  }
  follow().catch(error => {
    if (!isOver) throw error
  })
  return {
    close() {
      isOver = true
      agent.destroy()
    },
  }
}

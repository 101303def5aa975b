import { connect, createSecureContext, type SecureContext } from 'node:tls'
import { answerAsks, now } from '../rig/child.ts'

/** The followers: the heads of their requests without the path. */
export interface Crowd {
  port: number
  ca: string
  streams: readonly string[]
  polls: readonly string[]
}

/** A crowd takes its place; hears of one change; goes. */
export type CrowdCommand = { open: Crowd } | { within: number } | { close: true }

/** When each of them heard, in milliseconds on the clock that processes share. */
export interface Heard {
  stream: number[]
  poll: number[]
}

let heard: Heard = { stream: [], poll: [] }
let onHeard = () => {}
let goes: (() => void)[] = []
let size = 0

const hears = (way: keyof Heard) => {
  heard[way].push(now())
  onHeard()
}

/** Opens a connection that uses as little CPU as possible, because the delay of the service is measured. */
function open({ port, secureContext }: { port: number; secureContext: SecureContext }, onText: (text: string) => void) {
  const callback = (length: number, buffer: Uint8Array) => {
    onText(Buffer.from(buffer.buffer, buffer.byteOffset, length).toString('latin1'))
    return true
  }
  const own = { host: '127.0.0.1', port, onread: { buffer: Buffer.alloc(1 << 14), callback } }
  const socket = connect({ ...own, servername: 'localhost', secureContext })
  socket.setNoDelay(true)
  let isOver = false
  socket.on('error', () => {})
  socket.on('close', () => {
    if (!isOver) throw new Error('The service has closed a connection.')
  })
  goes.push(() => {
    isOver = true
    socket.destroy()
  })
  return socket
}

/** Follows `GET /changes/stream`; resolves once it stands. */
const byStream = (at: Parameters<typeof open>[0], head: string) =>
  new Promise<void>(resolve => {
    let rest = ''
    const socket = open(at, text => {
      const blocks = (rest + text).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        if (block.includes('\ndata: ')) hears('stream')
        else if (block.includes('id: ')) resolve()
      }
    })
    socket.write(`GET /changes/stream HTTP/1.1\r\n${head}\r\n`)
  })

/** Follows `GET /changes?wait=30`, over and over; resolves once it waits. */
const byPoll = (at: Parameters<typeof open>[0], head: string) =>
  new Promise<void>(resolve => {
    let cursor = ''
    let response = ''
    const ask = (query: string) => socket.write(`GET /changes?limit=1000${query} HTTP/1.1\r\n${head}\r\n`)
    const socket = open(at, text => {
      response += text
      const end = response.indexOf('\r\n\r\n') + 4
      const length = /^HTTP\/1\.1 200 [\s\S]*?\r\ncontent-length: (\d+)/i.exec(response)?.[1]
      if (end < 4 || response.length - end < Number(length)) return
      if (length === undefined) throw new Error(`An answer that is no page: ${response}`)
      const isFirst = cursor === ''
      if (!isFirst && !response.includes('"data":[]', end)) hears('poll')
      cursor = /"endCursor":"([^"]+)"/.exec(response)?.[1] ?? ''
      response = ''
      ask(`&wait=30&after_cursor=${cursor}`)
      if (isFirst) resolve()
    })
    ask('')
  })

answerAsks(async (requested: CrowdCommand): Promise<Heard> => {
  if ('open' in requested) {
    const { port, ca, streams, polls } = requested.open
    const at = { port, secureContext: createSecureContext({ ca }) }
    size = streams.length + polls.length
    for (const head of streams) await byStream(at, head)
    for (const head of polls) await byPoll(at, head)
  } else if ('close' in requested) {
    for (const go of goes) go()
    goes = []
  } else {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, requested.within)
    const count = () => heard.stream.length + heard.poll.length
    onHeard = () => void (count() >= size && resolve())
    onHeard()
    await promise
    clearTimeout(timer)
  }
  const reported = heard
  heard = { stream: [], poll: [] }
  onHeard = () => {}
  return reported
})

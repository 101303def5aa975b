import { connect, createSecureContext, type SecureContext } from 'node:tls'
import { answerRequests, now } from '../rig/child.ts'

/** The followers: the heads of their requests without the path. */
export interface Crowd {
  port: number
  ca: string
  streams: readonly string[]
  polls: readonly string[]
}

/** Opens followers, waits for one change, or closes all followers. */
export type CrowdCommand = { open: Crowd } | { within: number } | { close: true }

/** When each follower received the change, in milliseconds of the clock that processes share. */
export interface ReceiptTimes {
  stream: number[]
  poll: number[]
}

let receipts: ReceiptTimes = { stream: [], poll: [] }
let onReceipt = () => {}
let closers: (() => void)[] = []
let size = 0

const recordReceipt = (way: keyof ReceiptTimes) => {
  receipts[way].push(now())
  onReceipt()
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
  closers.push(() => {
    isOver = true
    socket.destroy()
  })
  return socket
}

/** Follows `GET /changes/stream`. Resolves when the stream is open. */
const byStream = (at: Parameters<typeof open>[0], head: string) =>
  new Promise<void>(resolve => {
    let partialLine = ''
    const socket = open(at, text => {
      const blocks = (partialLine + text).split('\n\n')
      partialLine = blocks.pop() ?? ''
      for (const block of blocks) {
        if (block.includes('\ndata: ')) recordReceipt('stream')
        else if (block.includes('id: ')) resolve()
      }
    })
    socket.write(`GET /changes/stream HTTP/1.1\r\n${head}\r\n`)
  })

/** Repeats `GET /changes?wait=30`. Resolves when the first long poll waits. */
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
      if (!isFirst && !response.includes('"data":[]', end)) recordReceipt('poll')
      cursor = /"endCursor":"([^"]+)"/.exec(response)?.[1] ?? ''
      response = ''
      ask(`&wait=30&after_cursor=${cursor}`)
      if (isFirst) resolve()
    })
    ask('')
  })

answerRequests(async (requested: CrowdCommand): Promise<ReceiptTimes> => {
  if ('open' in requested) {
    const { port, ca, streams, polls } = requested.open
    const at = { port, secureContext: createSecureContext({ ca }) }
    size = streams.length + polls.length
    for (const head of streams) await byStream(at, head)
    for (const head of polls) await byPoll(at, head)
  } else if ('close' in requested) {
    for (const close of closers) close()
    closers = []
  } else {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, requested.within)
    const count = () => receipts.stream.length + receipts.poll.length
    onReceipt = () => void (count() >= size && resolve())
    onReceipt()
    await promise
    clearTimeout(timer)
  }
  const received = receipts
  receipts = { stream: [], poll: [] }
  onReceipt = () => {}
  return received
})

import { connect, createSecureContext, type SecureContext } from 'node:tls'
import { handleRequests, now } from '../rig/child.ts'

/** The followers to open. `streams` and `polls` contain the head of each follower's requests, without the request line. */
export interface Crowd {
  port: number
  ca: string
  streams: readonly string[]
  polls: readonly string[]
}

/** Opens followers, waits at most `within` milliseconds until all have received a change, or closes all followers. */
export type CrowdCommand = { open: Crowd } | { within: number } | { close: true }

/** The times at which followers received the change, in milliseconds of the clock that processes share. */
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
function openConnection(
  { port, secureContext }: { port: number; secureContext: SecureContext },
  onText: (text: string) => void,
) {
  const callback = (length: number, buffer: Uint8Array) => {
    onText(Buffer.from(buffer.buffer, buffer.byteOffset, length).toString('latin1'))
    return true
  }
  const options = { host: '127.0.0.1', port, onread: { buffer: Buffer.alloc(1 << 14), callback } }
  const socket = connect({ ...options, servername: 'localhost', secureContext })
  socket.setNoDelay(true)
  let isOver = false
  socket.on('error', () => {})
  socket.on('close', () => {
    if (!isOver) throw new Error('The service closed a connection.')
  })
  closers.push(() => {
    isOver = true
    socket.destroy()
  })
  return socket
}

/** Follows `GET /changes/stream`. Resolves when the stream is open. */
const openStream = (server: Parameters<typeof openConnection>[0], head: string) =>
  new Promise<void>(resolve => {
    let partialLine = ''
    const socket = openConnection(server, text => {
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
const openLongPoll = (server: Parameters<typeof openConnection>[0], head: string) =>
  new Promise<void>(resolve => {
    let cursor = ''
    let response = ''
    const sendRequest = (query: string) => socket.write(`GET /changes?limit=1000${query} HTTP/1.1\r\n${head}\r\n`)
    const socket = openConnection(server, text => {
      response += text
      const end = response.indexOf('\r\n\r\n') + 4
      const length = /^HTTP\/1\.1 200 [\s\S]*?\r\ncontent-length: (\d+)/i.exec(response)?.[1]
      if (end < 4 || response.length - end < Number(length)) return
      if (length === undefined) throw new Error(`The response is not a page: ${response}`)
      const isFirst = cursor === ''
      if (!isFirst && !response.includes('"data":[]', end)) recordReceipt('poll')
      cursor = /"endCursor":"([^"]+)"/.exec(response)?.[1] ?? ''
      response = ''
      sendRequest(`&wait=30&after_cursor=${cursor}`)
      if (isFirst) resolve()
    })
    sendRequest('')
  })

handleRequests(async (command: CrowdCommand): Promise<ReceiptTimes> => {
  if ('open' in command) {
    const { port, ca, streams, polls } = command.open
    const server = { port, secureContext: createSecureContext({ ca }) }
    size = streams.length + polls.length
    for (const head of streams) await openStream(server, head)
    for (const head of polls) await openLongPoll(server, head)
  } else if ('close' in command) {
    for (const close of closers) close()
    closers = []
  } else {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, command.within)
    const countReceipts = () => receipts.stream.length + receipts.poll.length
    onReceipt = () => void (countReceipts() >= size && resolve())
    onReceipt()
    await promise
    clearTimeout(timer)
  }
  const received = receipts
  receipts = { stream: [], poll: [] }
  onReceipt = () => {}
  return received
})

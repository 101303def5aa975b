import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** The fault of the next message. */
export type SmtpFault =
  | { at: 'mail' | 'rcpt' | 'data'; code: number }
  /** Accepts the message, but closes the connection without a response. */
  | 'cut'
  /** Accepts the message, but never responds. */
  | 'hang'

/** A received message. */
export interface DeliveredMail extends Email {
  receivers: string[]
  encrypted: boolean
  raw: string
  at: number
}

/** A mail server that stores all received messages. */
export interface SmtpSink {
  url: string
  port: number
  delivered: DeliveredMail[]
  /** Faults of the next messages, in order; later messages are accepted. */
  faults: SmtpFault[]
  /** The names of the AUTH and MAIL commands, in order. */
  commands: string[]
  close(): Promise<void>
}

/** Starts a mail server on this machine, by default on a free port. */
export async function startSink({
  port = 0,
  ...options
}: SMTPServerOptions & { port?: number } = {}): Promise<SmtpSink> {
  const sockets = new Set<Socket>()
  const sink = { delivered: [] as DeliveredMail[], faults: [] as SmtpFault[], commands: [] as string[] }
  const rejectAt = (command: 'mail' | 'rcpt' | 'data') => {
    const [next] = sink.faults
    if (typeof next !== 'object' || next.at !== command) return null
    sink.faults.shift()
    return Object.assign(new Error('no, says the server to veronica@example.com'), { responseCode: next.code })
  }
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    // Without a certificate in `options`, the library would offer its own, which has expired.
    disabledCommands: options.cert ? [] : ['STARTTLS'],
    ...options,
    onAuth(auth, _, done) {
      sink.commands.push('AUTH')
      if (auth.password === 'right') done(null, { user: auth.username })
      else done(new Error('Wrong password'))
    },
    onMailFrom(_, __, done) {
      sink.commands.push('MAIL')
      done(rejectAt('mail'))
    },
    onRcptTo: (_, __, done) => done(rejectAt('rcpt')),
    onData(stream, session, done) {
      buffer(stream).then(async bytes => {
        const rejection = rejectAt('data')
        if (rejection) return done(rejection)
        sink.delivered.push({
          ...(await PostalMime.parse(bytes)),
          receivers: session.envelope.rcptTo.map(({ address }) => address),
          encrypted: session.secure,
          raw: bytes.toString(),
          at: performance.now(),
        })
        const next = sink.faults[0]
        if (next !== 'cut' && next !== 'hang') return done()
        sink.faults.shift()
        if (next === 'cut') for (const socket of sockets) socket.destroy()
      }, done)
    },
  })
  server.on('error', () => {})
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(port, '127.0.0.1')
  await once(server.server, 'listening')
  const at = (server.server.address() as AddressInfo).port
  return {
    ...sink,
    url: `smtp://127.0.0.1:${at}`,
    port: at,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>(resolve => server.close(() => resolve()))
    },
  }
}

/** Returns the Message-IDs of a voucher's emails. */
export const listMessageIds = ({ delivered }: SmtpSink, number: string) =>
  delivered.filter(({ text }) => text?.includes(`Voucher number: ${number}\n`)).map(({ messageId }) => messageId)

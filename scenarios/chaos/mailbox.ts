import type { AddressInfo } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'

/** A mail as it arrived. */
export interface Arrived {
  messageId: string
  subject: string
  recipients: string[]
  text: string
}

/** A real SMTP server that keeps what it is given, and now and then refuses for the moment. */
export async function openMailbox(refuses: () => boolean) {
  const mails: Arrived[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    async onData(stream, session, done) {
      const chunks: Buffer[] = []
      try {
        for await (const chunk of stream) chunks.push(chunk)
      } catch (error) {
        // A worker that is killed while it hands a mail over cuts the connection.
        return done(error as Error)
      }
      if (refuses()) return done(Object.assign(new Error('Try again later'), { responseCode: 451 }))
      const mail = await PostalMime.parse(Buffer.concat(chunks))
      mails.push({
        messageId: mail.messageId ?? '',
        subject: mail.subject ?? '',
        recipients: session.envelope.rcptTo.map(to => to.address),
        text: mail.text ?? '',
      })
      done()
    },
  })
  server.on('error', () => {})
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return { url: `smtp://127.0.0.1:${port}`, mails, close: () => new Promise<void>(resolve => server.close(resolve)) }
}

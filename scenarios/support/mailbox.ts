import type { AddressInfo } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'

/** An email that the mailbox received. */
export interface ReceivedEmail {
  messageId: string
  subject: string
  recipients: string[]
  text: string
}

/** Starts an SMTP server that stores each email, unless `rejects` returns true: then it asks the sender to try again later. */
export async function openMailbox(rejects: () => boolean) {
  const emails: ReceivedEmail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    async onData(stream, session, done) {
      const chunks: Buffer[] = []
      try {
        for await (const chunk of stream) chunks.push(chunk)
      } catch (error) {
        // A worker that is killed while it sends an email closes the connection.
        return done(error as Error)
      }
      if (rejects()) return done(Object.assign(new Error('Try again later'), { responseCode: 451 }))
      const mail = await PostalMime.parse(Buffer.concat(chunks))
      emails.push({
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
  return { url: `smtp://127.0.0.1:${port}`, emails, close: () => new Promise<void>(resolve => server.close(resolve)) }
}

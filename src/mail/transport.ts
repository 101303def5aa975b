import { join } from 'node:path'
import { createFileTransport } from './file-transport.ts'
import type { ComposedMessage } from './message.ts'
import { createSmtpTransport } from './smtp-transport.ts'

/** Delivers messages to a mail server or to files. */
export interface MailTransport {
  /** Resolves once the message is delivered to the server or file. Throws `DeliveryFailed` if it isn't, or if that is unknown. */
  send(message: ComposedMessage, signal: AbortSignal): Promise<void>
  /** Deletes the file of a message by its `Message-ID`. Absent if messages are not stored on this machine. */
  deleteFile?(messageId: string): Promise<void>
}

/** Returns the SMTP transport if `smtpUrl` is set, otherwise a transport that writes files to `<dataDir>/mail`. */
export const openMailTransport = ({
  smtpUrl,
  dataDir,
}: {
  smtpUrl: string | undefined
  dataDir: string
}): MailTransport => (smtpUrl === undefined ? createFileTransport(join(dataDir, 'mail')) : createSmtpTransport(smtpUrl))

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAtomically } from '../files/atomic-write.ts'
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

/** Writes each message to `<Message-ID>.eml` in a directory that only its owner can read: for development, and until SMTP is set up. */
function createFileTransport(directory: string) {
  // Drafts are in another directory, because a program may watch this one, and it can contain thousands of files.
  const drafts = `${directory}.drafts`
  const getPath = (messageId: string) => join(directory, `${messageId.slice(1, -1).replace(/[^\w.@-]/g, '_')}.eml`)
  return {
    async send({ messageId, bytes }: ComposedMessage) {
      for (const folder of [directory, drafts]) await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeAtomically(getPath(messageId), draft => writeFile(draft, bytes, { mode: 0o600 }), { drafts })
    },
    deleteFile: (messageId: string) => rm(getPath(messageId), { force: true }),
  }
}

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { wholeFile } from '../whole-file.ts'
import type { Message } from './message.ts'

/** Leaves each message as `<Message-ID>.eml` in a directory that only its owner reads: for development, and until there is SMTP. */
export function filePost(directory: string) {
  const fileOf = (messageId: string) => join(directory, `${messageId.slice(1, -1).replace(/[^\w.@-]/g, '_')}.eml`)
  return {
    async send({ messageId, bytes }: Message) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      // Somebody may be watching the directory.
      await wholeFile(fileOf(messageId), draft => writeFile(draft, bytes, { mode: 0o600 }))
    },
    forget: (messageId: string) => rm(fileOf(messageId), { force: true }),
  }
}

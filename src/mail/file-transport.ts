import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAtomically } from '../files/atomic-write.ts'
import type { Message } from './message.ts'

/** Leaves each message as `<Message-ID>.eml` in a directory that only its owner reads: for development, and until there is SMTP. */
export function filePost(directory: string) {
  // Somebody may be watching the directory, and thousands may be in it.
  const drafts = `${directory}.drafts`
  const fileOf = (messageId: string) => join(directory, `${messageId.slice(1, -1).replace(/[^\w.@-]/g, '_')}.eml`)
  return {
    async send({ messageId, bytes }: Message) {
      for (const each of [directory, drafts]) await mkdir(each, { recursive: true, mode: 0o700 })
      await writeAtomically(fileOf(messageId), draft => writeFile(draft, bytes, { mode: 0o600 }), { drafts })
    },
    forget: (messageId: string) => rm(fileOf(messageId), { force: true }),
  }
}

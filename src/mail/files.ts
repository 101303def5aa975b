import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Message } from './message.ts'

/** Leaves each message as `<Message-ID>.eml` in a directory that only its owner reads: for development, and until there is SMTP. */
export function filePost(directory: string) {
  const fileOf = (messageId: string) => join(directory, `${messageId.slice(1, -1).replace(/[^\w.@-]/g, '_')}.eml`)
  return {
    async send({ messageId, bytes }: Message) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const file = fileOf(messageId)
      // Whole or not at all: somebody may be watching the directory.
      const draft = `${file}.${process.pid}`
      const handle = await open(draft, 'w', 0o600)
      try {
        await handle.writeFile(bytes)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(draft, file)
    },
    forget: (messageId: string) => rm(fileOf(messageId), { force: true }),
  }
}

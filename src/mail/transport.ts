import { join } from 'node:path'
import { filePost } from './file-transport.ts'
import type { Message } from './message.ts'
import { smtpPost } from './smtp-transport.ts'

/** A way to hand messages over. */
export interface Post {
  /** Returns once the message is in other hands; throws `Undelivered` where it is not, or may not be. */
  send(message: Message, signal: AbortSignal): Promise<void>
  /** Takes away what is left of a message here, by its `Message-ID`; absent: nothing is, it is in other hands. */
  forget?(messageId: string): Promise<void>
}

/** SMTP where `SMTP_URL` says so, else files in `<DATA_DIR>/mail`. */
export const postOf = ({ smtpUrl, dataDir }: { smtpUrl: string | undefined; dataDir: string }): Post =>
  smtpUrl === undefined ? filePost(join(dataDir, 'mail')) : smtpPost(smtpUrl)

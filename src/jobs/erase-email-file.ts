import { isBeingSent, messageIdOf } from '../store/mail/mails.ts'
import type { ServiceJobRun } from './job.ts'

/** Where e-mails are left in files: takes away the file of one to somebody who was erased. */
export async function eraseMail({ db, service, subject, post, reschedule }: ServiceJobRun): Promise<void> {
  // Whoever is about to send it leaves a file yet.
  if (await isBeingSent(db, service, subject)) return reschedule(60)
  const messageId = await messageIdOf(db, service, subject)
  if (messageId !== undefined) await post.forget?.(messageId)
}

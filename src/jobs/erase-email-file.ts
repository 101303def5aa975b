import { findMessageId, isBeingSent } from '../store/mail/emails.ts'
import type { ServiceJobRun } from './job.ts'

/** Deletes the file of an email to an erased customer, if emails are written to files. */
export async function eraseEmailFile({
  db,
  service,
  subject,
  mailTransport,
  reschedule,
}: ServiceJobRun): Promise<void> {
  // A running job may still write the file.
  if (await isBeingSent(db, service, subject)) return reschedule(60)
  const messageId = await findMessageId(db, service, subject)
  if (messageId !== undefined) await mailTransport.deleteFile?.(messageId)
}

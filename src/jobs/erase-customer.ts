import { eraseRemainingData } from '../store/privacy/erase-batch.ts'
import type { ServiceJobRun } from './job.ts'

/** Erases the remaining personal data of an erased customer, in batches. Rows without personal data are not read again, so it can run twice. */
export async function eraseCustomer({ db, keys, service, subject, signal }: ServiceJobRun): Promise<void> {
  await eraseRemainingData(db, keys, service, subject, signal)
}

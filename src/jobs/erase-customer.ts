import { eraseRemainingData } from '../store/privacy/erase-batch.ts'
import type { ServiceJobRun } from './job.ts'

/** Empties what still names a customer who was erased, in portions; what is empty already is not found again. */
export async function eraseCustomer({ db, keys, service, subject, signal }: ServiceJobRun): Promise<void> {
  await eraseRemainingData(db, keys, service, subject, signal)
}

import { emptyPlacesOf } from '../store/privacy/portions.ts'
import type { Work } from './job.ts'

/** Empties what still names a customer who was erased. */
export async function eraseCustomer({ db, keys, service, subject, signal }: Work): Promise<void> {
  if (service) await emptyPlacesOf(db, keys, service, subject, signal)
}

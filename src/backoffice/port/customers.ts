import type { Erasure } from '../../domain/customers/erasure.ts'
import type { CustomerChange, CustomerInput } from '../../domain/customers/input.ts'
import type { CommitPhase, Write } from '../../writes/write.ts'

/** A customer after a write. */
export interface CustomerWritten {
  id: string
  /** The complete record (`Customer`) as JSON. */
  record: string
  warnings: { code: string; detail: string }[]
}

/** A driver's writes to customers. Creating and updating throw `invalid_field` and `email_taken`, naming each field. */
export interface CustomerWrites {
  createCustomer(write: Write, input: CustomerInput): Promise<CommitPhase<CustomerWritten>>
  /** Returns undefined if the customer does not exist. Throws `precondition_failed` and `precondition_required` as well. */
  updateCustomer(write: Write, id: string, change: CustomerChange): Promise<CommitPhase<CustomerWritten | undefined>>
  /**
   * Returns undefined if no customer has, or had, the ID. Throws `capability_unavailable` if the back office would keep the person's
   * data.
   */
  eraseCustomer(
    write: Pick<Write, 'service' | 'stage' | 'recordFact' | 'requireMatch'>,
    id: string,
  ): Promise<CommitPhase<Erasure | undefined>>
}

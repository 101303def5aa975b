import type {
  IssuedVoucher,
  ReadVoucher,
  ValidatedVoucher,
  Voucher,
  VoucherInput,
  VoucherLockRequest,
  VoucherOpening,
} from '../../domain/vouchers/vouchers.ts'
import type { ApiError } from '../../errors/api-error.ts'
import type { CommitPhase, Write } from '../../writes/write.ts'

/** The part of a write that a look-up needs, because it counts wrong PINs. */
export type VoucherRead = Pick<Write, 'stage' | 'keys' | 'service' | 'origin' | 'isDryRun'>

/**
 * A driver's operations on gift vouchers. They return an error instead of throwing it if a failed attempt was counted, because the count
 * must be committed.
 */
export interface VoucherWrites {
  /** Returns the voucher that the number and the PIN open, in any state. */
  lookUpVoucher(read: VoucherRead, opening: VoucherOpening): Promise<CommitPhase<Voucher | ApiError>>
  /** Looks the voucher up and replaces its validation, for an amount or for the complete balance. */
  validateVoucher(
    read: VoucherRead,
    validation: VoucherOpening & { amount?: string | undefined },
  ): Promise<CommitPhase<ValidatedVoucher | ApiError>>
  /**
   * Locks a voucher for the newest validation, extends the lock, or releases it (0 seconds). With the PIN, validates and locks it in one
   * transaction and returns the `validationId`.
   */
  lockVoucher(write: Write, lock: VoucherLockRequest): Promise<CommitPhase<ReadVoucher | ApiError>>
  /** Creates a digital voucher and queues the email with its number and PIN. */
  issueVoucher(write: Write, input: VoucherInput): Promise<CommitPhase<IssuedVoucher>>
}

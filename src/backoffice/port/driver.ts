import type { RedemptionStatus } from '../../domain/rewards/redemptions.ts'
import type { SyncDefinition } from '../../domain/sync/port.ts'
import type { BackOfficeSettings } from '../../domain/tenancy/back-office-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { BackOffice } from './back-office.ts'

/** The log methods that a driver uses. A pino logger has them. */
export interface DriverLog {
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
}

/** Called with the back office's first reaction to the username and the password, and whenever it changes. */
export type OnCredentials = (state: 'accepted' | 'rejected') => void

/** Called after each call with its duration. `hasFailed`: there was no response, or a 5xx. */
export type OnCall = (milliseconds: number, hasFailed: boolean) => void

/** The result of a test call. */
export interface ProbeResult {
  /** Undefined if the back office doesn't report it. */
  release: string | undefined
  stores: number
  /** ISO 4217. Undefined if the back office doesn't report it. */
  currency: string | undefined
}

/** The connection of one process to the back office of one service. */
export interface Driver {
  backOffice(service: Service): BackOffice
  /** True if all data is in our own tables, without calls and syncs. */
  readonly isEmbedded: boolean
  /** The syncs, in the order of their dependencies. */
  readonly syncs: readonly SyncDefinition[]
  /** Identifies the back office, without secrets. Checkpoints of another source are invalid. */
  readonly source: string
  /** The IANA time zone in which the driver reads the back office's local times. */
  readonly timeZone: string
  /** The state of the circuit breaker. `open` rejects calls. Undefined if the driver makes no calls. */
  readonly breaker: 'closed' | 'open' | undefined
  /** Reads the release, and a list that requires valid credentials and a valid country. Throws `ApiError`. */
  probe(): Promise<ProbeResult>
  /**
   * Returns the current stock of these SKUs in all locations that have some. Absent: stock doesn't change in another system.
   * Throws `ApiError`s.
   */
  fetchStock?(
    skuIds: readonly string[],
    signal: AbortSignal,
  ): Promise<{ storeId: string; skuId: string; freeStock: number }[]>
  /**
   * Finishes an expired redemption of rewards: repeats a confirmation in doubt, reverses any other. Returns its last status. Absent: our
   * tables keep the redemptions. Throws `ApiError`s.
   */
  finishRedemption?(
    redemption: { requestId: string; status: RedemptionStatus },
    signal: AbortSignal,
  ): Promise<'confirmed' | 'cancelled' | 'expired'>
  close(): void
}

/** Opens the driver of a service. Makes no calls yet. */
export type OpenDriver = (
  settings: BackOfficeSettings,
  service: Service,
  log: DriverLog,
  onCredentials?: OnCredentials,
  onCall?: OnCall,
) => Driver

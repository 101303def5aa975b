import type { SyncDefinition } from '../../domain/sync/port.ts'
import type { BackOfficeSettings } from '../../domain/tenancy/back-office-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { BackOffice } from './back-office.ts'

/** What to call when something happens that an operator should know; a pino logger is one. */
export interface DriverLog {
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
}

/** Hears what becomes of the user and the password that a back office was given: the first time, and each time that it changes. */
export type OnCredentials = (state: 'accepted' | 'rejected') => void

/** Hears of each call that was made: how many milliseconds it took, and whether there was no answer, or a 5xx. */
export type OnCall = (milliseconds: number, hasFailed: boolean) => void

/** What a driver sees of its back office when it looks. */
export interface ProbeResult {
  /** Undefined where it does not tell. */
  release: string | undefined
  stores: number
  /** ISO 4217; undefined where it does not tell. */
  currency: string | undefined
}

/** One service's back office, in one process. */
export interface Driver {
  backOffice(service: Service): BackOffice
  /** All of it is in our own tables: nobody is called, and nothing is pulled. */
  readonly isEmbedded: boolean
  /** What can be pulled, in the order in which one needs the other. */
  readonly syncs: readonly SyncDefinition[]
  /** Which back office it is, without secrets: what was noted of another one means nothing to it. */
  readonly source: string
  /** Whether calls go through; `open` is a breaker that keeps them back. Undefined: there are none. */
  readonly breaker: 'closed' | 'open' | undefined
  /** Asks for its release, and for something that needs the user and the country to be right. Throws `ApiError`s. */
  probe(): Promise<ProbeResult>
  close(): void
}

/** Opens what the settings name for a service. Nothing is asked of it yet. */
export type OpenDriver = (
  settings: BackOfficeSettings,
  service: Service,
  log: DriverLog,
  onCredentials?: OnCredentials,
  onCall?: OnCall,
) => Driver

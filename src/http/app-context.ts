import type { IdentityProvider } from '../auth/identity-provider.ts'
import type { Sessions } from '../auth/sessions.ts'
import type { SignIn } from '../auth/sign-in.ts'
import type { BackOffice } from '../backoffice/port/back-office.ts'
import type { Driver } from '../backoffice/port/driver.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import type { Assignment } from '../store/accounts/accounts.ts'
import type { Sender } from '../webhooks/sender.ts'
import type { TransactionContext } from '../writes/commit.ts'
import type { Deprecations } from './deprecations.ts'
import type { Policy, Rate } from './limits/rate-limit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The service of the request and the caller's role. Set by `admit`. */
    assignment: Assignment | undefined
    username: string | undefined
    /** The context of the database that has the service. */
    appContext: AppContext | undefined
  }
}

/** The state of this process that the console shows. */
export interface ProcessInfo {
  /** When the certificate in use expires. */
  certificateExpiresAt: () => Date
  /** The interval of scheduled backups. Undefined: Tillbridge schedules none. */
  backupIntervalHours: number | undefined
}

/** The dependencies of request handling, for one database. */
export interface AppContext extends TransactionContext {
  signIn: SignIn
  sessions: Sessions
  /** The identity provider with which people sign in to the console. */
  identityProvider?: IdentityProvider
  /** Counts a request of an account. Returns undefined if the service has no limit for this policy. */
  rate: (service: Service, username: string, policy: Policy) => Rate | undefined
  backOffice: (service: Service) => BackOffice
  /** Returns the driver of a service, as far as requests need it. */
  driver: (service: Service) => Pick<Driver, 'isEmbedded' | 'syncs' | 'breaker'>
  /** Sends requests to webhook endpoints. */
  sender: Sender
  /** Returns the time of each sync's last successful run, by name. Returns undefined if the service has no syncs. Does no I/O. */
  syncedAt?: (service: Service) => ReadonlyMap<string, string> | undefined
  processInfo: ProcessInfo
  /** Aborted when the process shuts down. Waiting requests end then. */
  shutdownSignal: AbortSignal
  /** Opens a shard. Only in the control database's context. Throws `DatabaseUnavailable` if the shard is unavailable. */
  shardGateway?: (database: string) => Promise<ShardAccess>
  /** The deprecated operations of the API. Only in the control database's context. */
  deprecations?: Deprecations
}

export interface ShardAccess {
  appContext: AppContext
  /** Returns a service as the shard has it, at most 2 s old, or undefined. Throws `DatabaseUnavailable` if the shard is unavailable. */
  service: (id: number) => Promise<Service | undefined>
}

import type { Service } from '../domain/tenancy/service-settings.ts'
import type { ApiError } from '../errors/api-error.ts'
import type { WriteRequest } from '../store/writes/intents.ts'
import type { WriteResult, WriteRuntime } from './execute.ts'
import type { CommitPhase } from './write.ts'

/** One write operation of the API, as far as recovery needs it. */
export interface WriteOperation {
  /** False for an operation that only reads. It leaves nothing to recover. */
  isAudited: boolean
  /** Returns the work of a stored write whose caller has gone. */
  resume(
    service: Service,
    requested: WriteRequest,
  ): (runtime: WriteRuntime) => Promise<CommitPhase<WriteResult | ApiError>>
}

/** The write operations of the API, by method and path pattern: `PUT /customers/:id`. */
export type WriteRegistry = ReadonlyMap<string, WriteOperation>

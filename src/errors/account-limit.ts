import { ApiError } from './api-error.ts'

/** The open records of an account of the API, for example its reservations. */
export interface OpenRecords {
  count: number
  /** Seconds until the first one expires. */
  seconds: number
}

/** The maximum number of open records of one kind per account. */
export const maxOpenRecords = 1_000

/** Creates a check that returns `rate_limited` if an account has too many open records. */
export const createAccountLimit =
  (verb: string, records: string) =>
  ({ count, seconds }: OpenRecords): ApiError | undefined =>
    count >= maxOpenRecords
      ? new ApiError('rate_limited', `An account can ${verb} at most ${maxOpenRecords} ${records} at a time.`, {
          retryAfter: Math.max(1, seconds),
        })
      : undefined

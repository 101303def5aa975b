import type { Connection } from './connection.ts'
import { Failure } from './failure.ts'
import { noData, Refusal } from './rejection.ts'
import { addressOf } from './request.ts'
import type { Stage } from './stages.ts'

/** Logs the calls that come to nothing, and those that are refused, without anything personal or secret. */
export const logged =
  (connection: Connection): Stage =>
  asked =>
  error => {
    const warn = (facts: object, message: string) => {
      const method = 'method' in asked ? asked.method : 'GET'
      connection.log?.warn({ call: `${method} ${addressOf(connection, asked).shown}`, ...facts }, message)
    }
    if (error instanceof Failure) warn(told(error), 'A call of the back office came to nothing.')
    else if (error instanceof Refusal && error.code !== noData)
      warn({ status: error.status, code: error.code }, 'The back office refuses a call.')
  }

/** What a log may say of a failure. */
function told({ message, kind, cause }: Failure) {
  const { code } = (cause ?? {}) as { code?: unknown }
  return { fault: message, kind, ...(typeof code === 'string' && { cause: code }) }
}

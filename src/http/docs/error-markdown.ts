import { STATUS_CODES } from 'node:http'
import { type ErrorCode, errorCodes } from '../../errors/api-error.ts'

/** The next action of a program that received an error, with its meaning. */
const nextActions = {
  fix_request: 'Change the request. The same request will fail again.',
  read_again: 'Read the record again, then decide if the change is still needed.',
  retry: 'Send the same request again.',
  retry_later: 'Wait for `Retry-After` seconds, or as described above, then send the same request again.',
  retry_with_same_key: 'Send the same request again with the same `Idempotency-Key`.',
  ask_admin: 'An admin of the service must act first. Retry after that.',
  ask_operator: 'Retry once. If the error persists, report the `requestId` to the operator.',
} as const
type NextAction = keyof typeof nextActions

const actionsByStatus: Partial<Record<number, NextAction>> = {
  401: 'ask_admin',
  408: 'retry',
  412: 'read_again',
  428: 'read_again',
  429: 'retry_later',
  500: 'ask_operator',
  502: 'ask_operator',
  503: 'retry_later',
  504: 'retry_with_same_key',
}
/** The actions of codes that differ from those of their statuses. */
const actionsByCode: Partial<Record<ErrorCode, NextAction>> = {
  service_not_assigned: 'ask_admin',
  insufficient_role: 'ask_admin',
  insufficient_scope: 'ask_admin',
  voucher_not_configured: 'ask_admin',
  mapping_changed: 'read_again',
  invalid_transition: 'read_again',
  quantity_exceeds_returnable: 'read_again',
  voucher_locked: 'retry_later',
  idempotency_in_progress: 'retry_later',
  concurrent_update: 'retry',
}

/** Returns the page of an error as Markdown. Its front matter has the next action of a program. */
export function renderErrorMarkdown(code: ErrorCode): string {
  const { status, title, remedy } = errorCodes[code]
  const next = actionsByCode[code] ?? actionsByStatus[status] ?? 'fix_request'
  return `---
code: ${code}
status: ${status}
next: ${next}
---

# ${code}

${status} ${STATUS_CODES[status]}. ${title}

## What to do

${remedy}

\`${next}\`: ${nextActions[next]}
`
}

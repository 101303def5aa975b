import { ApiError } from '../../errors/api-error.ts'
import { Type } from '../../schemas/schemas.ts'
import { Flag, Id, Integer, LocalTime, Nullable, OneOf, Text } from '../values/fields.ts'

/** An email to the receiver of a voucher, without its content. */
export const ReceiverEmail = Type.Object(
  {
    id: Id('The ID of the email.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    status: OneOf('The state of the email.', ['queued', 'sent', 'failed']),
    queuedAt: LocalTime('When the email was queued.', '2026-11-21 12:00:00'),
    dueAt: Nullable(LocalTime('The next attempt. Null if no attempt is due.', '2026-11-21 12:05:00')),
    sentAt: Nullable(LocalTime('When a mail server accepted the email. Null if none has.', '2026-11-21 12:00:02')),
    isContentStored: Flag(
      'True if the content is still stored: until the email is sent, or for 30 days after it was abandoned. If true, a resend sends the same content. Otherwise a resend issues a new PIN.',
      false,
    ),
    attempts: Integer('The number of attempts.', 1, { minimum: 0 }),
    lastError: Nullable(
      Text('The error of the last attempt.', 'The mail server rejected the message: 550 5.1.1.', 500),
    ),
  },
  { $id: 'ReceiverEmail', additionalProperties: false },
)

/** The resends of a voucher in the last 24 hours. */
interface Resends {
  times: number
  /** Seconds since the first resend. */
  first: number
  /** Seconds since the last resend. */
  last: number
}

export const maxResendsPerDay = 5
const [minIntervalSeconds, daySeconds] = [60, 86_400]

/** Returns `rate_limited` if the voucher can't be resent yet. Limits the emails and the new PINs that a receiver gets. */
export function checkResendLimit({ times, first, last }: Resends): ApiError | undefined {
  if (times === 0) return
  const isDailyLimit = times >= maxResendsPerDay
  const retryAfter = isDailyLimit ? daySeconds - first : minIntervalSeconds - last
  if (retryAfter <= 0) return
  const detail = isDailyLimit
    ? `A voucher email can be resent at most ${maxResendsPerDay} times in 24 hours.`
    : `A voucher email can be resent once in ${minIntervalSeconds} seconds.`
  return new ApiError('rate_limited', detail, { retryAfter: Math.ceil(retryAfter) })
}

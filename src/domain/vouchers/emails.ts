import { ApiError } from '../../errors/api-error.ts'
import { Type } from '../../schemas/schemas.ts'
import { Flag, Id, LocalTime, Nullable, Text, Whole, Words } from '../values/fields.ts'

/** An email to the receiver of a voucher, without its content. */
export const ReceiverEmail = Type.Object(
  {
    id: Id('The ID of the email.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    status: Words('The state of the email.', ['queued', 'sent', 'failed']),
    queuedAt: LocalTime('When the email was queued.', '2026-11-21 12:00:00'),
    dueAt: Nullable(LocalTime('The next attempt. Null if there is none.', '2026-11-21 12:05:00')),
    sentAt: Nullable(LocalTime('When a mail server accepted it. Null if none has.', '2026-11-21 12:00:02')),
    isContentStored: Flag(
      'Whether the content is still stored: until the email is sent, or for 30 days after it was abandoned. If so, resending sends the same content. Otherwise it issues a new PIN.',
      false,
    ),
    attempts: Whole('The number of attempts.', 1, { minimum: 0 }),
    lastError: Nullable(
      Text('The error of the last attempt.', 'The mail server rejected the message: 550 5.1.1.', 500),
    ),
  },
  { $id: 'ReceiverEmail', additionalProperties: false },
)

/** How often something was done within a day, and the seconds since the first and the last of these times. */
interface Times {
  times: number
  first: number
  last: number
}

const [mostOfDay, apartSeconds, daySeconds] = [5, 60, 86_400]

/** Why a voucher is not sent again yet: a receiver is neither flooded nor told PIN after PIN. Undefined where it is. */
export function checkResendLimit({ times, first, last }: Times): ApiError | undefined {
  if (times === 0) return
  const isMost = times >= mostOfDay
  const left = isMost ? daySeconds - first : apartSeconds - last
  if (left <= 0) return
  const detail = isMost
    ? `A voucher email can be resent at most ${mostOfDay} times in 24 hours.`
    : `A voucher email can be resent once in ${apartSeconds} seconds.`
  return new ApiError('rate_limited', detail, { retryAfter: Math.ceil(left) })
}

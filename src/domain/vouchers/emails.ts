import { ApiError } from '../../errors/api-error.ts'
import { Type } from '../../schemas/schemas.ts'
import { Flag, Id, LocalTime, Nullable, Text, Whole, Words } from '../values/fields.ts'

/** An e-mail to the receiver of a voucher, without what it says. */
export const ReceiverEmail = Type.Object(
  {
    id: Id('The identifier of the e-mail.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    status: Words('How far it has come.', ['queued', 'sent', 'failed']),
    queuedAt: LocalTime('When it was asked for.', '2026-11-21 12:00:00'),
    dueAt: Nullable(LocalTime('When it is tried next; null: not any more.', '2026-11-21 12:05:00')),
    sentAt: Nullable(LocalTime('When a mail server took it; null: none has yet.', '2026-11-21 12:00:02')),
    wordsKept: Flag(
      'Whether what it says is kept: until it is sent, and for 30 days where it was given up. Then it goes out again as it was.',
      false,
    ),
    attempts: Whole('How often it was tried.', 1, { minimum: 0 }),
    fault: Nullable(
      Text('Why it was not taken the last time.', 'The mail server refuses the message: 550 5.1.1.', 500),
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
export function tooOften({ times, first, last }: Times): ApiError | undefined {
  if (times === 0) return
  const isMost = times >= mostOfDay
  const left = isMost ? daySeconds - first : apartSeconds - last
  if (left <= 0) return
  const detail = isMost
    ? `A voucher email can be resent at most ${mostOfDay} times in 24 hours.`
    : `A voucher email can be resent once in ${apartSeconds} seconds.`
  return new ApiError('rate_limited', detail, { retryAfter: Math.ceil(left) })
}

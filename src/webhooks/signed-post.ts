import type { Outcome } from './post.ts'
import type { Channel } from './sender.ts'
import { type Signed, signHeaders } from './signature.ts'

/** Posts what these secrets sign. Without one nothing is sent: a receiver would refuse it. */
export async function postSigned(
  channel: Pick<Channel, 'post'>,
  secrets: readonly string[],
  signed: Signed,
  signal: AbortSignal,
): Promise<Outcome> {
  if (!secrets.length) return { status: null, fault: locked, answer: '', milliseconds: 0 }
  return channel.post(signed.body, signHeaders(secrets, signed), signal)
}

const locked = 'Its secret was made under another SECRET_KEY, and nothing can be signed with it: rotate it.'

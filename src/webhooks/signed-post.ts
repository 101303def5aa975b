import type { Outcome } from './post.ts'
import type { Channel } from './sender.ts'
import { type Signed, signHeaders } from './signature.ts'

/** Posts a body signed with these secrets. Without a secret it posts nothing, because the receiver would reject it. */
export async function postSigned(
  channel: Pick<Channel, 'post'>,
  secrets: readonly string[],
  signed: Signed,
  signal: AbortSignal,
): Promise<Outcome> {
  if (!secrets.length) return { status: null, fault: locked, response: '', milliseconds: 0 }
  return channel.post(signed.body, signHeaders(secrets, signed), signal)
}

const locked = 'Its secret was made under another SECRET_KEY, and nothing can be signed with it: rotate it.'

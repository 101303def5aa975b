import { randomUUID } from 'node:crypto'
import { buildTestBody } from './payload.ts'
import type { Outcome } from './post.ts'
import type { Sender } from './sender.ts'
import { postSigned } from './signed-post.ts'

/** Sends an endpoint a test event. Returns the attempt. */
export async function sendTestEvent(
  sender: Sender,
  service: string,
  { url, secrets }: { url: string; secrets: readonly string[] },
): Promise<Outcome & { deliveryId: string; changes: number }> {
  const deliveryId = `msg_${randomUUID()}`
  const now = Temporal.Now.instant()
  const body = buildTestBody(service, now.toString({ smallestUnit: 'millisecond' }))
  const timestamp = Math.floor(now.epochMilliseconds / 1_000)
  const channel = sender.openChannel(url)
  try {
    const signed = { id: deliveryId, timestamp, body }
    const { retryAfterSeconds: _, ...outcome } = await postSigned(
      channel,
      secrets,
      signed,
      new AbortController().signal,
    )
    return { ...outcome, deliveryId, changes: 0 }
  } finally {
    channel.close()
  }
}

import { randomUUID } from 'node:crypto'
import { buildTestBody } from './delivery.ts'
import type { PostResult } from './post.ts'
import { postSigned, type Sender } from './sender.ts'

/** Sends an endpoint a test event. Returns the attempt. */
export async function sendTestEvent(
  sender: Sender,
  service: string,
  { url, secrets }: { url: string; secrets: readonly string[] },
): Promise<PostResult & { deliveryId: string; changes: number }> {
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

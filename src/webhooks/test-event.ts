import { randomUUID } from 'node:crypto'
import { buildTestBody } from './delivery.ts'
import { postSigned, type Sender, type SignedPostResult } from './sender.ts'

interface Receiver {
  url: string
  secrets: readonly string[]
}

/** Sends an endpoint a test event. Returns the attempt. */
export const sendTestEvent = (sender: Sender, service: string, endpoint: Receiver) =>
  sendOnce(sender, endpoint, {
    id: `msg_${randomUUID()}`,
    body: buildTestBody(service, Temporal.Now.instant().toString({ smallestUnit: 'millisecond' })),
    changes: 0,
  })

/** Sends a body once, signed now and outside the endpoint's order of deliveries. Returns the attempt. */
export async function sendOnce(
  sender: Sender,
  { url, secrets }: Receiver,
  { id, body, changes }: { id: string; body: string; changes: number },
): Promise<Omit<SignedPostResult, 'retryAfterSeconds'> & { deliveryId: string; changes: number }> {
  const timestamp = Math.floor(Date.now() / 1_000)
  const channel = sender.openChannel(url)
  try {
    const { retryAfterSeconds: _, ...outcome } = await postSigned(
      channel,
      secrets,
      { id, timestamp, body },
      new AbortController().signal,
    )
    return { ...outcome, deliveryId: id, changes }
  } finally {
    channel.close()
  }
}

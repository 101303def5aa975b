import { failpoint } from '../../../testing/failpoints.ts'
import type { Write } from '../../../writes/write.ts'
import type { ExpectedDocument } from '../xml/xml.ts'
import type { Client } from './client.ts'
import type { WriteRequest } from './request.ts'

/**
 * Sends a write to the back office and records its effect, so that recovery can find out the outcome after a crash.
 * A dry run sends nothing and returns the write's reference as the identifier.
 */
export async function performWrite(
  client: Client,
  write: Pick<Write, 'recordEffect' | 'isDryRun' | 'reference'>,
  request: WriteRequest,
) {
  return write.isDryRun ? { id: write.reference } : recordEffects(write, () => client.write(request))
}

/** Like `performWrite`, for a write whose response is a document. Not for dry runs. */
export const performWriteForDocument = (
  client: Client,
  write: Pick<Write, 'recordEffect'>,
  request: WriteRequest & ExpectedDocument,
) => recordEffects(write, () => client.writeForDocument(request))

async function recordEffects<T>(write: Pick<Write, 'recordEffect'>, send: () => Promise<T>): Promise<T> {
  write.recordEffect('pending')
  failpoint('before_upstream')
  const result = await send()
  failpoint('after_upstream')
  write.recordEffect('applied')
  return result
}

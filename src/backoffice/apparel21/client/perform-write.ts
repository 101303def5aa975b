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
  if (write.isDryRun) return { id: write.reference }
  write.recordEffect('pending')
  failpoint('before_upstream')
  const result = await client.write(request)
  failpoint('after_upstream')
  write.recordEffect('applied')
  return result
}

/** Like `performWrite`, for a write whose response is a document. Not for dry runs. */
export async function performWriteForDocument(
  client: Client,
  write: Pick<Write, 'recordEffect'>,
  request: WriteRequest & ExpectedDocument,
) {
  write.recordEffect('pending')
  failpoint('before_upstream')
  const root = await client.writeForDocument(request)
  failpoint('after_upstream')
  write.recordEffect('applied')
  return root
}

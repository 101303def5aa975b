import { failpoint } from '../../../testing/failpoints.ts'
import type { Write } from '../../../writes/write.ts'
import type { Client } from './client.ts'
import type { WriteRequest } from './request.ts'

/**
 * Sends a write to the back office and records its effect, so that recovery can find out the outcome after a crash.
 * A dry run sends nothing and returns the write's reference as the identifier.
 */
export async function performWrite(
  client: Client,
  write: Pick<Write, 'note' | 'isTrial' | 'reference'>,
  request: WriteRequest,
) {
  if (write.isTrial) return { id: write.reference }
  write.note('about to be')
  failpoint('before_upstream')
  const result = await client.write(request)
  failpoint('after_upstream')
  write.note('done')
  return result
}

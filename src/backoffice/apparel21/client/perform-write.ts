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

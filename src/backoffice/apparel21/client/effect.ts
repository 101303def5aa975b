import { failpoint } from '../../../testing/failpoints.ts'
import type { Write } from '../../../writes/write.ts'
import type { Client } from './client.ts'
import type { Writing } from './request.ts'

/** Has the back office carry something out; a crash on either side of it has to leave what can be found out, and finished. In a trial it is told nothing. */
export async function effect(client: Client, write: Pick<Write, 'note' | 'isTrial' | 'reference'>, writing: Writing) {
  if (write.isTrial) return { id: write.reference }
  write.note('about to be')
  failpoint('before_upstream')
  const done = await client.write(writing)
  failpoint('after_upstream')
  write.note('done')
  return done
}

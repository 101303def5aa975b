import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoreError } from '../telemetry/ignored-errors.ts'

/** Older folders are left over from killed processes. */
const maxAgeMs = 86_400_000

/** Creates a folder that only this user can read. Deletes this user's folders of the same prefix that nothing has changed for a day. */
export async function createTemporaryFolder(parent: string, prefix: string): Promise<string> {
  for (const name of (await readdir(parent)).filter(entry => entry.startsWith(prefix))) {
    const path = join(parent, name)
    const folder = await ignoreError(stat(path), 'temporary folder disappeared')
    if (folder && folder.uid === process.getuid?.() && Date.now() - folder.mtimeMs > maxAgeMs)
      await rm(path, { recursive: true, force: true })
  }
  return mkdtemp(join(parent, prefix))
}

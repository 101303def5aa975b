import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** Where the digest of a file stands that we have written: beside it, in the form of `sha256sum`, hidden. */
const markOf = (path: string) => join(dirname(path), `.${basename(path)}.sha256`)

async function markFor(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return `${hash.digest('hex')}  ${basename(path)}\n`
}

/** Notes a file as it was just written. */
export const mark = async (path: string) => writeFile(markOf(path), await markFor(path), { mode: 0o600 })

/** Removes a file with its mark. */
export const removeMarked = (path: string) => Promise.all([path, markOf(path)].map(each => rm(each, { force: true })))

/** Whether there is a file that is not as it was when it was marked. */
export async function isEdited(path: string): Promise<boolean> {
  const missing = () => undefined
  const now = await markFor(path).catch(missing)
  return now !== undefined && now !== (await readFile(markOf(path), 'utf8').catch(missing))
}

/** The path, or where that was edited the next one by number that was not: `sales.csv.rejected-2.csv`. */
export async function unedited(path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const numbered = number === 1 ? path : path.replace(/(\.csv)?$/, `-${number}$1`)
    if (!(await isEdited(numbered))) return numbered
  }
}

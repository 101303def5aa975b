import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** Where the digest of a file stands that we have written: beside it, in the form of `sha256sum`, hidden. */
const markOf = (path: string) => join(dirname(path), `.${basename(path)}.sha256`)

/** `of`: what was rejected, in words, on a line that `sha256sum` passes over. */
async function markFor(path: string, of: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return `# ${of}\n${hash.digest('hex')}  ${basename(path)}\n`
}

/** Notes a file as it was just written. */
export const mark = async (path: string, of: string) =>
  writeFile(markOf(path), await markFor(path, of), { mode: 0o600 })

/** Removes a file with its mark. */
export const removeMarked = (path: string) => Promise.all([path, markOf(path)].map(each => rm(each, { force: true })))

/** Whether there is a file that is not as it was when it was marked as one of these lines. */
async function isOther(path: string, of: string): Promise<boolean> {
  const missing = () => undefined
  const now = await markFor(path, of).catch(missing)
  return now !== undefined && now !== (await readFile(markOf(path), 'utf8').catch(missing))
}

/** The path, or the next one by number that nothing stands in the way of: `sales.csv.rejected-2.csv`. */
async function numbered(path: string, isFree: (path: string) => Promise<boolean>): Promise<string> {
  for (let number = 1; ; number++) {
    const next = number === 1 ? path : path.replace(/(\.csv|\.ndjson)?$/, `-${number}$1`)
    if (await isFree(next)) return next
  }
}

/** The first of the numbered paths where no file of others is, nor one that was edited. */
export const unedited = (path: string, of: string) => numbered(path, async next => !(await isOther(next, of)))

/** The same, where an empty file is then: of two imports at once each has its own. */
export const takeUnedited = (path: string, of: string) =>
  numbered(path, async next => (await take(next)) || !(await isOther(next, of)))

/** The first of the numbered paths where no file was; now an empty one is. */
export const takeUnused = (path: string) => numbered(path, take)

async function take(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, readFile, rm, writeFile } from 'node:fs/promises'
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
async function isEdited(path: string): Promise<boolean> {
  const missing = () => undefined
  const now = await markFor(path).catch(missing)
  return now !== undefined && now !== (await readFile(markOf(path), 'utf8').catch(missing))
}

/** The path, or the next one by number that nothing stands in the way of: `sales.csv.rejected-2.csv`. */
async function numbered(path: string, isTaken: (path: string) => Promise<boolean>): Promise<string> {
  for (let number = 1; ; number++) {
    const next = number === 1 ? path : path.replace(/(\.csv|\.ndjson)?$/, `-${number}$1`)
    if (!(await isTaken(next))) return next
  }
}

/** The first of the numbered paths that is not edited. */
export const unedited = (path: string) => numbered(path, isEdited)

/** The first of the numbered paths where no file is. */
export const unused = (path: string) =>
  numbered(path, next =>
    access(next).then(
      () => true,
      () => false,
    ),
  )

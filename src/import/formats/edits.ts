// Detects whether a file of rejected lines was edited: a hidden file next to it has its digest, in the form of `sha256sum`.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const getDigestPath = (path: string) => join(dirname(path), `.${basename(path)}.sha256`)

/** `description`: the import that rejected the lines, as a comment for `sha256sum`. */
async function computeDigest(path: string, description: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return `# ${description}\n${hash.digest('hex')}  ${basename(path)}\n`
}

export const writeDigest = async (path: string, description: string) =>
  writeFile(getDigestPath(path), await computeDigest(path, description), { mode: 0o600 })

export const removeWithDigest = (path: string) =>
  Promise.all([path, getDigestPath(path)].map(file => rm(file, { force: true })))

/** True if the file exists and differs from what an import of this description wrote. */
async function isEdited(path: string, description: string): Promise<boolean> {
  const ignoreMissing = () => undefined
  const now = await computeDigest(path, description).catch(ignoreMissing)
  return now !== undefined && now !== (await readFile(getDigestPath(path), 'utf8').catch(ignoreMissing))
}

/** Returns the path, or the first free one with a number, such as `sales.csv.rejected-2.csv`. */
async function findNumberedPath(path: string, isFree: (path: string) => Promise<boolean>): Promise<string> {
  for (let number = 1; ; number++) {
    const next = number === 1 ? path : path.replace(/(\.csv|\.ndjson)?$/, `-${number}$1`)
    if (await isFree(next)) return next
  }
}

/** Returns the first numbered path that has no edited file. */
export const findUneditedPath = (path: string, description: string) =>
  findNumberedPath(path, async next => !(await isEdited(next, description)))

/** Like `findUneditedPath`, and creates an empty file, so that two concurrent imports never share one. */
export const claimUneditedPath = (path: string, description: string) =>
  findNumberedPath(path, async next => (await claimPath(next)) || !(await isEdited(next, description)))

/** Returns the first numbered path that had no file, with an empty file. */
export const claimUnusedPath = (path: string) => findNumberedPath(path, claimPath)

async function claimPath(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

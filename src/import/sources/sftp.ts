import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { addAbortSignal, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type ExportPlace, ExportsUnreadable, freeName, type Mark } from './export-source.ts'
import { openSftp, type SftpAccess, type SftpSession } from './sftp-session.ts'

/** Milliseconds that a file may take to come or go, however steadily it does. */
const transferMs = 3_600_000
/** What a process that was killed has left here is taken away after a day. */
const leftOverMs = 86_400_000
const prefix = 'tillbridge-sftp-'

/** A folder of an SFTP server: files are copied to a temporary folder of this machine, and what was rejected of them is copied back. */
export async function openSftpFolder(access: SftpAccess, signal: AbortSignal): Promise<ExportPlace> {
  const session = await openSftp(access, signal)
  try {
    return placeOf(session, access.address.path, await temporaryFolder(), signal)
  } catch (error) {
    await session.close()
    throw error
  }
}

/** A folder for us alone: what passes through it is about persons. */
async function temporaryFolder() {
  for (const name of (await readdir(tmpdir())).filter(each => each.startsWith(prefix))) {
    const path = join(tmpdir(), name)
    const found = await stat(path).catch(() => undefined)
    if (found && found.uid === process.getuid?.() && Date.now() - found.mtimeMs > leftOverMs)
      await rm(path, { recursive: true, force: true })
  }
  return mkdtemp(join(tmpdir(), prefix))
}

function placeOf(session: SftpSession, folder: string, here: string, signal: AbortSignal): ExportPlace {
  const { step } = session
  const closing = new AbortController()
  const there = (...names: string[]) => posix.join(folder, ...names)
  const [copy, rejectedFolder] = [join(here, 'export'), join(here, 'failed')]

  const isThere = (path: string) => step(`see whether ${path} is there`, client => client.exists(path))
  const namesIn = (path: string) =>
    step(`list ${path}`, async client => (await client.list(path)).map(({ name }) => name))

  async function makeRoom() {
    for (const place of ['done', 'failed'].map(name => there(name)))
      if (!(await isThere(place))) await step(`make ${place}`, client => client.mkdir(place))
  }

  const markOf = (name: string) =>
    step(`look at ${there(name)}`, async client => {
      try {
        if ((await client.exists(there(name))) !== '-') return
        const { size, modifyTime } = await client.stat(there(name))
        return { size, changedAt: modifyTime }
      } catch (error) {
        // It has just gone.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
        throw error
      }
    })

  async function bring(name: string, { size }: Mark) {
    await rm(rejectedFolder, { recursive: true, force: true })
    await mkdir(rejectedFolder)
    await step(`read ${there(name)}`, async (client, alive) => {
      // What came after the look is not asked for: that much, and no more, is room for here.
      const from = size ? client.createReadStream(there(name), { end: size - 1 }) : Readable.from([])
      from.on('data', alive)
      await pipeline(from, createWriteStream(copy, { mode: 0o600 }), { signal: limit() })
    })
    const { size: came } = await stat(copy)
    if (came !== size) throw new ExportsUnreadable(`${there(name)} has ${size} bytes, of which ${came} came.`)
    return { path: copy, rejectedPath: join(rejectedFolder, `${name}.rejected.ndjson`) }
  }

  /** Copies a file there, under another name until it is whole. */
  async function send(from: string, to: string) {
    const draft = `${to}.part`
    await step(`write ${to}`, async (client, alive) => {
      const source = addAbortSignal(limit(), createReadStream(from))
      source.on('data', alive)
      try {
        await client.put(source, draft, { writeStreamOptions: { mode: 0o600 } })
      } finally {
        source.destroy()
      }
      const [{ size }, sent] = await Promise.all([stat(from), client.stat(draft)])
      if (sent.size !== size) throw new ExportsUnreadable(`Of ${to} only ${sent.size} of ${size} bytes arrived.`)
    })
    await remove(to)
    await step(`name ${to}`, client => client.rename(draft, to))
  }
  const remove = (path: string) => step(`take away ${path}`, client => client.delete(path, true))

  async function leave(name: string, to: 'done' | 'failed') {
    await makeRoom()
    const isOurs = (each: string) => each.startsWith(`${name}.rejected.`)
    const rejected = (await readdir(rejectedFolder).catch(() => [])).filter(isOurs)
    for (const each of rejected) await send(join(rejectedFolder, each), there('failed', each))
    const earlier = (await namesIn(there('failed'))).filter(isOurs)
    for (const each of earlier) if (!rejected.includes(each)) await remove(there('failed', each))
    const target = await freeName(there(to, name), async path => (await isThere(path)) !== false)
    await step(`move ${there(name)}`, client => client.rename(there(name), target))
    return target
  }

  return {
    makeRoom,
    names: () => namesIn(folder),
    markOf,
    bring,
    leave,
    async close() {
      closing.abort()
      await session.close()
      await rm(here, { recursive: true, force: true })
    },
  }

  function limit() {
    return AbortSignal.any([signal, closing.signal, AbortSignal.timeout(transferMs)])
  }
}

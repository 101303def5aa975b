import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { addAbortSignal, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createTemporaryFolder } from '../../files/temporary-folder.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import { type ExportFolder, ExportsUnreadable, type FileVersion, findFreeName } from './export-source.ts'
import { openSftp, type SftpAccess, type SftpSession } from './sftp-session.ts'

const transferTimeoutMs = 3_600_000

/** Opens a folder of an SFTP server. Files are copied to a temporary folder of this machine, and their rejected lines are copied back. */
export async function openSftpFolder(access: SftpAccess, signal: AbortSignal): Promise<ExportFolder> {
  const session = await openSftp(access, signal)
  try {
    const localFolder = await createTemporaryFolder(tmpdir(), 'tillbridge-sftp-')
    return createFolder(session, access.address.path, localFolder, signal)
  } catch (error) {
    await session.close()
    throw error
  }
}

function createFolder(session: SftpSession, folder: string, localFolder: string, signal: AbortSignal): ExportFolder {
  const { step } = session
  const closing = new AbortController()
  const toPath = (...names: string[]) => posix.join(folder, ...names)
  const [copy, rejectedFolder] = [join(localFolder, 'export'), join(localFolder, 'failed')]

  const exists = (path: string) => step(`check ${path}`, client => client.exists(path))
  const listFolder = (path: string) =>
    step(`list ${path}`, async client => (await client.list(path)).map(({ name }) => name))

  async function createFolders() {
    for (const path of ['done', 'failed'].map(name => toPath(name)))
      if (!(await exists(path))) await step(`create ${path}`, client => client.mkdir(path))
  }

  const getVersion = (name: string) =>
    step(`check ${toPath(name)}`, async client => {
      try {
        if ((await client.exists(toPath(name))) !== '-') return
        const { size, modifyTime } = await client.stat(toPath(name))
        return { size, changedAt: modifyTime }
      } catch (error) {
        // The file can have been removed since it was listed.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
        throw error
      }
    })

  async function fetch(name: string, { size }: FileVersion) {
    await rm(rejectedFolder, { recursive: true, force: true })
    await mkdir(rejectedFolder)
    await step(`read ${toPath(name)}`, async (client, onProgress) => {
      // Reads only the size that was checked against the limit, even if the file has grown.
      const from = size ? client.createReadStream(toPath(name), { end: size - 1 }) : Readable.from([])
      from.on('data', onProgress)
      await pipeline(from, createWriteStream(copy, { mode: 0o600 }), { signal: limit() })
    })
    const { size: received } = await stat(copy)
    if (received !== size)
      throw new ExportsUnreadable(`Only ${received} of ${size} bytes of ${toPath(name)} were received.`)
    return { path: copy, rejectedPath: join(rejectedFolder, `${name}.rejected.ndjson`) }
  }

  /** Copies a file to the server, under another name until it is complete. */
  async function send(from: string, to: string) {
    const draft = `${to}.part`
    await step(`write ${to}`, async (client, onProgress) => {
      const source = addAbortSignal(limit(), createReadStream(from))
      source.on('data', onProgress)
      try {
        await client.put(source, draft, { writeStreamOptions: { mode: 0o600 } })
      } finally {
        source.destroy()
      }
      const [{ size }, sent] = await Promise.all([stat(from), client.stat(draft)])
      if (sent.size !== size) throw new ExportsUnreadable(`Only ${sent.size} of ${size} bytes of ${to} were sent.`)
    })
    await remove(to)
    await step(`rename ${draft}`, client => client.rename(draft, to))
  }
  const remove = (path: string) => step(`delete ${path}`, client => client.delete(path, true))

  async function moveTo(name: string, to: 'done' | 'failed') {
    await createFolders()
    const isRejectedFile = (file: string) => file.startsWith(`${name}.rejected.`)
    const rejected = ((await ignoreError(readdir(rejectedFolder), 'no rejected lines')) ?? []).filter(isRejectedFile)
    for (const file of rejected) await send(join(rejectedFolder, file), toPath('failed', file))
    const earlier = (await listFolder(toPath('failed'))).filter(isRejectedFile)
    for (const file of earlier) if (!rejected.includes(file)) await remove(toPath('failed', file))
    const target = await findFreeName(toPath(to, name), async path => (await exists(path)) !== false)
    await step(`move ${toPath(name)}`, client => client.rename(toPath(name), target))
    return target
  }

  return {
    createFolders,
    listNames: () => listFolder(folder),
    getVersion,
    fetch,
    moveTo,
    async close() {
      closing.abort()
      await session.close()
      await rm(localFolder, { recursive: true, force: true })
    },
  }

  function limit() {
    return AbortSignal.any([signal, closing.signal, AbortSignal.timeout(transferTimeoutMs)])
  }
}

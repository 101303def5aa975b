import { createHash } from 'node:crypto'
import { chownSync, existsSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunAs } from './run-as.ts'

/** The number in the socket's name. Nothing listens on a network port. */
export const port = 5432

// The limit of macOS. Linux accepts 107 bytes.
const maxSocketPathLength = 103

/**
 * Creates a directory for the server's socket that only the server's user can enter, and deletes the sockets of earlier servers.
 * It is outside the data directory only if that path is too long for a socket. Throws if other users can write to it.
 */
export function prepareSocketDirectory(directory: string, { owner }: RunAs): string {
  const preferred = join(directory, 'socket')
  const name = `tillbridge-${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`
  const socket = [preferred, join(tmpdir(), name), join('/tmp', name)].find(fits) ?? preferred
  if (!existsSync(socket)) mkdirSync(socket, { mode: 0o700 })
  const stats = lstatSync(socket)
  const trusted = [owner.uid, process.geteuid?.()].includes(stats.uid)
  if (!stats.isDirectory() || !trusted || (stats.mode & 0o077) !== 0) {
    throw new Error(`${socket} can't contain the database's socket, because other users have access to it. Delete it.`)
  }
  if (stats.uid !== owner.uid) chownSync(socket, owner.uid, owner.gid)
  for (const file of [`.s.PGSQL.${port}`, `.s.PGSQL.${port}.lock`]) rmSync(join(socket, file), { force: true })
  return socket
}

const fits = (directory: string) => Buffer.byteLength(join(directory, `.s.PGSQL.${port}`)) <= maxSocketPathLength

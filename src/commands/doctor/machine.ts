import { once } from 'node:events'
import { readFile, statfs } from 'node:fs/promises'
import { connect } from 'node:net'
import { newestBackup } from '../../backup/history.ts'
import type { Config } from '../../config/config.ts'
import { type Database, sql } from '../../database/db.ts'

/** Stamps are PostgreSQL's, certificates and logs this machine's. */
export async function clock(db: Database) {
  const before = Date.now()
  const row = await db.row<{ now: number }>(sql`select extract(epoch from clock_timestamp())::float8 * 1000 as now`)
  const seconds = Math.abs((row?.now ?? 0) - (before + Date.now()) / 2) / 1_000
  if (seconds > 5)
    throw new Error(
      `The clock of this machine and PostgreSQL's are ${seconds.toFixed(0)} s apart: have both set by NTP (timedatectl).`,
    )
  return `${seconds.toFixed(1)} s from PostgreSQL's`
}

const gigabyte = 1024 ** 3

export async function disk(directory: string) {
  const { bavail, blocks, bsize } = await statfs(directory)
  const free = bavail * bsize
  const told = `${(free / gigabyte).toFixed(1)} GB free of ${((blocks * bsize) / gigabyte).toFixed(1)} GB`
  if (free < gigabyte) throw new Error(`${told}: a full disk stops all writes. Make room, or set DATA_DIR.`)
  return told
}

/** Each caller, connection to the database and file is one; Node.js has raised the soft limit to the hard one. */
export async function fileLimit() {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const [, most] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  if (most === undefined) return 'no limit is known here'
  if (Number(most) < 4_096)
    throw new Error(`At most ${most} files and connections: set LimitNOFILE of the unit, or ulimit -n, to 65536.`)
  return `${most} files and connections`
}

/** What was acknowledged has to be there after the power went. */
export async function durability(db: Database) {
  const row = await db.row<{ fsync: string; pages: string; commit: string }>(sql`
    select current_setting('fsync') as fsync, current_setting('full_page_writes') as pages, current_setting('synchronous_commit') as commit`)
  const off = [
    ...(row?.fsync === 'on' ? [] : ['fsync']),
    ...(row?.pages === 'on' ? [] : ['full_page_writes']),
    ...(row?.commit === 'off' ? ['synchronous_commit'] : []),
  ]
  if (off.length)
    throw new Error(
      `${off.join(', ')} ${off.length > 1 ? 'are' : 'is'} off: a crash of the machine can lose what was acknowledged. Turn it on.`,
    )
  return `what is committed is on the disk (synchronous_commit ${row?.commit})`
}

const patienceMs = 5_000

/** Whether the mail server can be reached; what it thinks of us is seen at the first mail. */
export async function mail({ smtpUrl }: Config) {
  if (smtpUrl === undefined) return 'left in DATA_DIR/mail; SMTP_URL names a mail server'
  const { protocol, hostname, port } = new URL(smtpUrl)
  const at = Number(port || (protocol === 'smtps:' ? 465 : 587))
  const socket = connect(at, hostname)
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(patienceMs) })
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException
    throw new Error(
      `The mail server ${hostname}:${at} cannot be reached (${code ?? name}): e-mails wait. Check SMTP_URL.`,
    )
  } finally {
    socket.destroy()
  }
  return `${hostname}:${at} is there`
}

const oldestHours = 48

/** How old the newest backup of the control database is, or of the data database that is named. Throws where it is too old. */
export async function backups(db: Database, database?: string) {
  const newest = await newestBackup(db)
  const command = `tillbridge backup <file>${database === undefined ? '' : ` --database ${database}`}`
  if (!newest) throw new Error(`There was none yet: ${command}, each night (docs/operate/backup-and-restore.md)`)
  const told = `the newest is of ${newest.at.toISOString()}, ${newest.hours.toFixed(0)} hours ago`
  if (newest.hours > oldestHours) throw new Error(`${told}: has the one of each night stopped? (docs/operate/backup-and-restore.md)`)
  return told
}

import { once } from 'node:events'
import { readFile, statfs } from 'node:fs/promises'
import { connect } from 'node:net'
import { discoverProvider } from '../../auth/identity-provider.ts'
import { getReason } from '../../auth/provider-failures.ts'
import { defaultBackupIntervalHours, findNewestBackup } from '../../backup/history.ts'
import type { Config } from '../../config/config.ts'
import { type Database, type Db, sql } from '../../database/db.ts'
import { countNoun } from '../../domain/values/nouns.ts'
import { describeCorrection, readClockCorrection } from '../../store/alerts/database-clock.ts'
import { listAllServices } from '../../store/tenancy/services.ts'
import { Warning } from './database.ts'

/** Compares the clocks: change timestamps come from PostgreSQL, certificates and logs use this machine's clock. */
export async function checkClock(db: Database) {
  const before = Date.now()
  const row = await db.row<{ now: number }>(sql`select extract(epoch from clock_timestamp())::float8 * 1000 as now`)
  const seconds = Math.abs((row?.now ?? 0) - (before + Date.now()) / 2) / 1_000
  if (seconds > 5)
    throw new Error(
      `The clocks of this machine and of PostgreSQL differ by ${seconds.toFixed(0)} s. Synchronize both by NTP (timedatectl).`,
    )
  const correction = await readClockCorrection(db)
  if (correction) throw new Error(describeCorrection(correction))
  return `${seconds.toFixed(1)} s off PostgreSQL's clock`
}

const gigabyte = 1024 ** 3

export async function checkDisk(directory: string) {
  const { bavail, blocks, bsize } = await statfs(directory)
  const free = bavail * bsize
  const detail = `${(free / gigabyte).toFixed(1)} GB free of ${((blocks * bsize) / gigabyte).toFixed(1)} GB`
  if (free < gigabyte) throw new Error(`${detail}. A full disk stops all writes. Free some space, or set DATA_DIR.`)
  return detail
}

/** Checks the limit of open files: each client, database connection and file needs one. Node.js raises the soft limit to the hard limit. */
export async function checkFileLimit() {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const [, limit] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  if (limit === undefined) return 'limit unknown on this platform'
  if (Number(limit) < 4_096)
    throw new Error(
      `The limit of ${limit} open files is too low. Set LimitNOFILE of the systemd unit, or ulimit -n, to 65536.`,
    )
  return `${limit} files and connections`
}

/** Throws if PostgreSQL could lose committed transactions in a power failure. */
export async function checkDurability(db: Database) {
  const row = await db.row<{ fsync: string; pages: string; commit: string }>(sql`
    select current_setting('fsync') as fsync, current_setting('full_page_writes') as pages, current_setting('synchronous_commit') as commit`)
  const off = [
    ...(row?.fsync === 'on' ? [] : ['fsync']),
    ...(row?.pages === 'on' ? [] : ['full_page_writes']),
    ...(row?.commit === 'off' ? ['synchronous_commit'] : []),
  ]
  if (off.length)
    throw new Error(
      `${off.join(', ')} ${off.length > 1 ? 'are' : 'is'} off, so a machine crash can lose acknowledged writes. Turn it on.`,
    )
  return `commits are flushed to disk (synchronous_commit ${row?.commit})`
}

const connectTimeoutMs = 5_000

/** Connects to the mail server. Its credentials are only checked with the first email. */
export async function checkMail({ smtpUrl }: Config) {
  if (smtpUrl === undefined) return 'written to DATA_DIR/mail (SMTP_URL is not set)'
  const { protocol, hostname, port } = new URL(smtpUrl)
  const at = Number(port || (protocol === 'smtps:' ? 465 : 587))
  const socket = connect(at, hostname)
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(connectTimeoutMs) })
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException
    throw new Error(
      `The mail server ${hostname}:${at} is unreachable (${code ?? name}), so emails wait. Check SMTP_URL.`,
    )
  } finally {
    socket.destroy()
  }
  return `${hostname}:${at} is reachable`
}

/** Returns the age of the newest backup of the control database or a shard. Throws if it is older than two intervals of the schedule. */
export async function checkBackups({ backupIntervalHours }: Config, db: Database, database?: string) {
  const newest = await findNewestBackup(db)
  const command = `tillbridge backup${backupIntervalHours === undefined ? ' <file>' : ''}${database === undefined ? '' : ` --shard ${database}`}`
  if (!newest)
    throw new Error(
      backupIntervalHours === undefined
        ? `No backup exists. Run this every night: ${command} (docs/operate/backup-and-restore.md)`
        : `No backup exists, although one is scheduled every ${countNoun(backupIntervalHours, 'hour')}. To see the cause: ${command}`,
    )
  const detail = `newest backup: ${newest.at.toISOString()}, ${countNoun(Math.round(newest.hours), 'hour')} ago`
  const schedule =
    backupIntervalHours === undefined ? '' : `, scheduled every ${countNoun(backupIntervalHours, 'hour')}`
  if (newest.hours > 2 * (backupIntervalHours ?? defaultBackupIntervalHours))
    throw new Error(
      backupIntervalHours === undefined
        ? `${detail}. Check the nightly backup (docs/operate/backup-and-restore.md).`
        : `${detail}${schedule}. To see the cause: ${command}`,
    )
  return detail + schedule
}

const maxClockDifferenceSeconds = 30

/**
 * Reads the identity provider's metadata, and checks its clock, PKCE, the address of the console, and that the services of OIDC_ROLES
 * exist. Throws if people can't sign in.
 */
export async function checkIdentityProvider(config: Config, db: Db): Promise<string> {
  const { oidcIssuer, oidcRoles = [], publicUrl } = config
  if (!oidcIssuer) return 'accounts with passwords (OIDC_ISSUER is not set)'
  let respondedAt: string | null = null
  const provider = await discoverProvider(config, response => {
    respondedAt = response.headers.get('date')
  }).catch((error: unknown) => {
    const reason = getReason(error)
    const remedy = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/.test(reason)
      ? "The certificate isn't trusted: set NODE_EXTRA_CA_CERTS to the file of the authority that signed it."
      : 'Check OIDC_ISSUER: it must be exactly the issuer that the identity provider reports.'
    throw new Error(
      `The metadata at ${oidcIssuer.href.replace(/\/$/, '')}/.well-known/openid-configuration can't be read (${reason}). ${remedy}`,
    )
  })
  const difference = respondedAt === null ? 0 : (Date.parse(respondedAt) - Date.now()) / 1_000
  if (Math.abs(difference) > maxClockDifferenceSeconds)
    throw new Error(
      `The clocks of this machine and of the identity provider differ by ${Math.abs(difference).toFixed(0)} s. Synchronize both by NTP (timedatectl).`,
    )
  const methods = provider.serverMetadata().code_challenge_methods_supported
  if (methods && !methods.includes('S256'))
    throw new Error('The identity provider must support PKCE with S256. Enable it there.')
  const names = (await listAllServices(db)).map(({ name }) => name)
  const unknown = oidcRoles.map(({ service }) => service).filter(service => service !== '*' && !names.includes(service))
  if (unknown.length)
    throw new Warning(
      `OIDC_ROLES names services that don't exist: ${[...new Set(unknown)].join(', ')}. To list them: tillbridge service list`,
    )
  if (publicUrl === undefined)
    throw new Warning(
      'PUBLIC_URL is not set, so people can sign in only on this machine. Set it to the address of the API.',
    )
  return `${oidcIssuer.href}, redirect URI ${publicUrl}/console`
}

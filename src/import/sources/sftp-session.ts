import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import SftpClient, { type ConnectOptions } from 'ssh2-sftp-client'
import type { SftpAddress } from '../../domain/tenancy/back-office-settings.ts'
import { handleLater, ignoreError } from '../../telemetry/ignored-errors.ts'
import { ExportsUnreadable } from './export-source.ts'

/** The address, host keys and credentials of a server. */
export interface SftpAccess {
  address: SftpAddress
  /** Fingerprints of the accepted host keys: `SHA256:…`, as OpenSSH writes them. */
  hostKeys: readonly string[]
  /** The path of a private key. Undefined: the password signs in. */
  keyFile: string | undefined
  /** The password of the user or of the private key. */
  password: string | undefined
}

/** A connection to an SFTP server. */
export interface SftpSession {
  /**
   * Runs one step. `action` names it in messages (`list the folder`). Closes the connection if the step makes no progress for too long.
   * A long step reports its progress with `onProgress`. Throws only `ExportsUnreadable`.
   */
  step<T>(action: string, work: (client: SftpClient, onProgress: () => void) => Promise<T>): Promise<T>
  close(): Promise<void>
}

const closeTimeoutMs = 2_000
const keepaliveIntervalMs = 15_000

/** The messages for status codes of SFTP, the library and sockets. `isLasting`: retries can't help. */
const failures: Readonly<Record<string, readonly [cause: string, isLasting?: boolean]>> = {
  2: ["the file or folder doesn't exist", true],
  ENOENT: ["the file or folder doesn't exist", true],
  3: ['permission denied', true],
  EACCES: ['permission denied', true],
  4: ['the server reported a failure without a cause'],
  6: ['the connection ended'],
  7: ['the connection ended'],
  8: ["the server doesn't support it", true],
  ERR_GENERIC_CLIENT: ['the connection ended'],
  ERR_NOT_CONNECTED: ['the connection ended'],
  ABORT_ERR: ['it was interrupted'],
}

/** `level`: the part of the protocol that failed. */
type SshError = Error & { code?: string | number; level?: string }

const computeFingerprint = (key: Buffer) =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`

/** Connects and signs in. A step can be without progress for `timeoutMs`. Nothing is sent to a server with an unknown host key. */
export async function openSftp(access: SftpAccess, signal: AbortSignal, timeoutMs = 30_000): Promise<SftpSession> {
  const { address, hostKeys } = access
  const server = `${address.host}:${address.port}`
  const credentials = await loadCredentials(access, server)
  signal.throwIfAborted()
  const client = new SftpClient('exports', {})
  const socket = createConnection({ host: address.host, port: address.port, noDelay: true })
  const cut = () => socket.destroy()
  signal.addEventListener('abort', cut, { once: true })
  const lost = new Promise<never>((_, reject) => socket.once('close', () => reject(new Error('The connection ended.'))))
  handleLater(lost)
  /** The first error. Later ones follow from it. */
  let cause: SshError | undefined
  let unknownKey: string | undefined
  const onError = (error: SshError) => {
    cause ??= error
  }
  socket.on('error', onError)
  client.on('error', onError)

  function toExportsUnreadable(error: SshError, action: string) {
    if (error instanceof ExportsUnreadable) return error
    if (unknownKey !== undefined)
      return new ExportsUnreadable(
        `The SFTP server ${server} has the host key ${unknownKey}, which is not in the settings. Nothing was sent to it. Check that it is the right server.`,
        true,
      )
    if (cause?.level === 'client-authentication')
      return new ExportsUnreadable(
        `The SFTP server ${server} rejected the user, or its ${access.keyFile === undefined ? 'password' : 'private key'}.`,
        true,
      )
    if (/privateKey/.test(error.message))
      return new ExportsUnreadable(
        `The private key for the SFTP server ${server} is invalid, or has another passphrase.`,
        true,
      )
    const code = (cause ?? error).code ?? (error.name === 'TimeoutError' ? 'it took too long' : undefined)
    const [reason, isLasting] = code === undefined ? ['the connection ended'] : (failures[code] ?? [code])
    return new ExportsUnreadable(`The SFTP server ${server} couldn't ${action}: ${reason}.`, isLasting)
  }

  async function runStep<T>(
    action: string,
    work: (client: SftpClient, onProgress: () => void) => Promise<T>,
  ): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(
          new ExportsUnreadable(
            `The SFTP server ${server} couldn't ${action}: no data for ${timeoutMs / 1_000} seconds.`,
          ),
        )
        cut()
      }, timeoutMs)
    })
    try {
      return await Promise.race([work(client, () => timer?.refresh()), timeout, lost])
    } catch (error) {
      throw toExportsUnreadable(error as SshError, action)
    } finally {
      clearTimeout(timer)
    }
  }

  async function close() {
    signal.removeEventListener('abort', cut)
    const late = setTimeout(cut, closeTimeoutMs)
    await ignoreError(client.end(), 'connection was already closed')
    clearTimeout(late)
    cut()
  }

  function isKnownKey(key: Buffer) {
    const fingerprint = computeFingerprint(key)
    if (hostKeys.includes(fingerprint)) return true
    const [algorithm = 'unknown algorithm'] = /^(ssh|ecdsa|sk)-[\w@.-]{1,50}/.exec(key.toString('latin1', 4)) ?? []
    unknownKey = `${fingerprint} (${algorithm})`
    return false
  }

  try {
    await runStep('connect', () =>
      client.connect({
        ...credentials,
        sock: socket,
        hostVerifier: isKnownKey,
        readyTimeout: 0,
        keepaliveInterval: keepaliveIntervalMs,
      }),
    )
    return { step: runStep, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function loadCredentials({ address, keyFile, password }: SftpAccess, server: string): Promise<ConnectOptions> {
  const username = address.user
  if (keyFile === undefined) {
    if (password === undefined)
      throw new ExportsUnreadable(`The password for the SFTP server ${server} is missing. Set it again.`, true)
    return { username, password, authHandler: ['password'] }
  }
  const privateKey = await readFile(keyFile).catch(({ code }: NodeJS.ErrnoException) => {
    throw new ExportsUnreadable(`The private key for the SFTP server ${server} can't be read: ${code}.`, true)
  })
  return {
    username,
    privateKey,
    authHandler: ['publickey'],
    ...(password === undefined ? {} : { passphrase: password }),
  }
}

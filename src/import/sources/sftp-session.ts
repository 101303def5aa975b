import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import SftpClient, { type ConnectOptions } from 'ssh2-sftp-client'
import type { SftpAddress } from '../../domain/tenancy/back-office-settings.ts'
import { handleLater, ignoreError } from '../../telemetry/ignored-errors.ts'
import { ExportsUnreadable } from './export-source.ts'

/** How a server is reached, how it is known, and who signs in. */
export interface SftpAccess {
  address: SftpAddress
  /** Fingerprints of the keys it may show: `SHA256:…`, as OpenSSH writes them. */
  hostKeys: readonly string[]
  /** A private key; without one the password signs in. */
  keyFile: string | undefined
  /** The user's, or that of the private key. */
  password: string | undefined
}

/** A connection to an SFTP server. */
export interface SftpSession {
  /**
   * Takes a step, named in the words of a complaint (`list the folder`), and cuts the connection where nothing moves for too long: a step
   * of many parts says that it moves by `alive`. Throws nothing but `ExportsUnreadable`.
   */
  step<T>(what: string, work: (client: SftpClient, alive: () => void) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Milliseconds that a farewell may take; and between two words that keep a connection from being taken for dead. */
const farewellMs = 2_000
const keepaliveMs = 15_000

/** What servers, the library and sockets say went wrong, in words, and whether somebody has to mend it. */
const faults: Readonly<Record<string, readonly [why: string, isLasting?: boolean]>> = {
  2: ['there is no such file or folder', true],
  ENOENT: ['there is no such file or folder', true],
  3: ['it is not allowed', true],
  EACCES: ['it is not allowed', true],
  4: ['it says no more than that it failed'],
  6: ['the connection ended'],
  7: ['the connection ended'],
  8: ['the server cannot do that', true],
  ERR_GENERIC_CLIENT: ['the connection ended'],
  ERR_NOT_CONNECTED: ['the connection ended'],
  ABORT_ERR: ['it was broken off'],
}

/** `level`: what part of the protocol it came up in. */
type SshError = Error & { code?: string | number; level?: string }

const fingerprintOf = (key: Buffer) => `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`

/** Connects and signs in; a step may stand still for `stillMs`. Nothing is sent to a server that shows another key than those that are known. */
export async function openSftp(access: SftpAccess, signal: AbortSignal, stillMs = 30_000): Promise<SftpSession> {
  const { address, hostKeys } = access
  const where = `${address.host}:${address.port}`
  const credentials = await credentialsOf(access, where)
  signal.throwIfAborted()
  const client = new SftpClient('exports', {})
  const socket = createConnection({ host: address.host, port: address.port, noDelay: true })
  const cut = () => socket.destroy()
  signal.addEventListener('abort', cut, { once: true })
  const lost = new Promise<never>((_, reject) => socket.once('close', () => reject(new Error('The connection ended.'))))
  handleLater(lost)
  /** What went wrong first is what the rest comes from. */
  let cause: SshError | undefined
  let stranger: string | undefined
  const onError = (error: SshError) => {
    cause ??= error
  }
  socket.on('error', onError)
  client.on('error', onError)

  function told(error: SshError, what: string) {
    if (error instanceof ExportsUnreadable) return error
    if (stranger !== undefined)
      return new ExportsUnreadable(
        `The SFTP server ${where} showed the host key ${stranger}, which is not the one that is known: nothing was sent to it. Is it the right server?`,
        true,
      )
    if (cause?.level === 'client-authentication')
      return new ExportsUnreadable(
        `The SFTP server ${where} rejected the user, or its ${access.keyFile === undefined ? 'password' : 'private key'}.`,
        true,
      )
    if (/privateKey/.test(error.message))
      return new ExportsUnreadable(
        `The private key for the SFTP server ${where} is none, or needs another passphrase.`,
        true,
      )
    const code = (cause ?? error).code ?? (error.name === 'TimeoutError' ? 'it took too long' : undefined)
    const [why, isLasting] = code === undefined ? ['the connection ended'] : (faults[code] ?? [code])
    return new ExportsUnreadable(`The SFTP server ${where}: could not ${what}: ${why}.`, isLasting)
  }

  async function step<T>(what: string, work: (client: SftpClient, alive: () => void) => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const still = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(
          new ExportsUnreadable(
            `The SFTP server ${where}: could not ${what}: nothing came for ${stillMs / 1_000} seconds.`,
          ),
        )
        cut()
      }, stillMs)
    })
    try {
      return await Promise.race([work(client, () => timer?.refresh()), still, lost])
    } catch (error) {
      throw told(error as SshError, what)
    } finally {
      clearTimeout(timer)
    }
  }

  async function close() {
    signal.removeEventListener('abort', cut)
    const late = setTimeout(cut, farewellMs)
    await ignoreError(client.end(), 'connection was already closed')
    clearTimeout(late)
    cut()
  }

  function isKnown(key: Buffer) {
    const shown = fingerprintOf(key)
    if (hostKeys.includes(shown)) return true
    const [kind = 'of another kind'] = /^(ssh|ecdsa|sk)-[\w@.-]{1,50}/.exec(key.toString('latin1', 4)) ?? []
    stranger = `${shown} (${kind})`
    return false
  }

  try {
    await step('connect', () =>
      client.connect({
        ...credentials,
        sock: socket,
        hostVerifier: isKnown,
        readyTimeout: 0,
        keepaliveInterval: keepaliveMs,
      }),
    )
    return { step, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function credentialsOf({ address, keyFile, password }: SftpAccess, where: string): Promise<ConnectOptions> {
  const username = address.user
  if (keyFile === undefined) {
    if (password === undefined)
      throw new ExportsUnreadable(`The password for the SFTP server ${where} is not known: set it anew.`, true)
    return { username, password, authHandler: ['password'] }
  }
  const privateKey = await readFile(keyFile).catch(({ code }: NodeJS.ErrnoException) => {
    throw new ExportsUnreadable(`The private key for the SFTP server ${where} cannot be read: ${code}.`, true)
  })
  return {
    username,
    privateKey,
    authHandler: ['publickey'],
    ...(password === undefined ? {} : { passphrase: password }),
  }
}

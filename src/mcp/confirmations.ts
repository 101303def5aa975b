import { timingSafeEqual } from 'node:crypto'
import { computeHmac } from '../crypto/keys.ts'
import { toCanonicalJson } from '../http/body/json.ts'

const lifetimeSeconds = 10 * 60

/** A write that a caller can confirm. */
interface ConfirmableWrite {
  /** The service and the account. */
  caller: readonly string[]
  tool: string
  input: unknown
}

/**
 * Returns a token that permits this write, with this input and by this caller only, for ten minutes. It contains the version of the record that
 * the caller saw. Nothing is stored.
 */
export function createConfirmation(key: Buffer, write: ConfirmableWrite, etag = '', now = Date.now()) {
  const version = Buffer.from(etag).toString('base64url')
  const expiresAt = Math.floor(now / 1_000) + lifetimeSeconds
  return `${expiresAt}.${version}.${sign(key, write, version, expiresAt)}`
}

/** Returns the version that the caller saw, empty if the record has none. Returns undefined if the token doesn't permit this write. */
export function readConfirmation(key: Buffer, write: ConfirmableWrite, token: string, now = Date.now()) {
  const [, expiresAt = '', version = '', signature = ''] = /^(\d{10})\.([\w-]*)\.([\w-]{43})$/.exec(token) ?? []
  const expected = Buffer.from(sign(key, write, version, Number(expiresAt)))
  const actual = Buffer.from(signature)
  const isSigned = actual.length === expected.length && timingSafeEqual(actual, expected)
  return isSigned && Number(expiresAt) * 1_000 > now ? Buffer.from(version, 'base64url').toString() : undefined
}

const sign = (key: Buffer, { caller, tool, input }: ConfirmableWrite, version: string, expiresAt: number) =>
  computeHmac(key, 'confirmation', ...caller, tool, toCanonicalJson(input), version, String(expiresAt)).toString(
    'base64url',
  )

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

/** Returns a token that permits this write, with this input and by this caller only, for ten minutes. Nothing is stored. */
export function createConfirmation(key: Buffer, write: ConfirmableWrite, now = Date.now()) {
  const expiresAt = Math.floor(now / 1_000) + lifetimeSeconds
  return `${expiresAt}.${sign(key, write, expiresAt)}`
}

export function isConfirmed(key: Buffer, write: ConfirmableWrite, token: string, now = Date.now()) {
  const [, expiresAt = '', signature = ''] = /^(\d{10})\.([\w-]{43})$/.exec(token) ?? []
  const expected = Buffer.from(sign(key, write, Number(expiresAt)))
  const actual = Buffer.from(signature)
  return actual.length === expected.length && timingSafeEqual(actual, expected) && Number(expiresAt) * 1_000 > now
}

const sign = (key: Buffer, { caller, tool, input }: ConfirmableWrite, expiresAt: number) =>
  computeHmac(key, 'confirmation', ...caller, tool, toCanonicalJson(input), String(expiresAt)).toString('base64url')

/**
 * The optional second factor of accounts with passwords.
 * Pattern: time-based one-time passwords (RFC 6238) with recovery codes.
 * Guarantees: each code is accepted once, at most five codes of an account are tried per minute, and the secret is stored encrypted.
 */
import { randomBytes } from 'node:crypto'
import { computeHmac, type Keys, seal, unseal } from '../crypto/keys.ts'
import type { Db } from '../database/db.ts'
import { countFailure } from '../store/accounts/failures.ts'
import {
  getSecondFactorContext,
  insertSecondFactor,
  lockSecondFactor,
  spendRecoveryCode,
  spendStep,
} from '../store/accounts/second-factors.ts'

/** A QR code as an SVG path of its dark modules, with the light border that ISO/IEC 18004 requires. */
interface QrCode {
  /** Modules per side, with the border. One module is one unit of the path. */
  size: number
  path: string
}

/** A second factor that an account has yet to confirm with a code. */
interface Enrolment {
  /** The secret in base32, to be typed into an authenticator app. */
  secret: string
  /** The secret as an `otpauth://` link. */
  uri: string
  qrCode: QrCode
  /** The secret encrypted for this account, to be sent back with the first code. */
  enrolment: string
}

/** Codes of an account that can be tried per minute. A right code counts too. */
const maxCodesPerMinute = 5
const recoveryCodeCount = 10
const periodSeconds = 30
const issuer = 'Tillbridge'

// Loaded on first use: most accounts have no second factor.
const load = () => import('otpauth')
const getEnrolmentContext = (username: string) => `second factor enrolment ${username}`
const hashRecoveryCode = (keys: Keys, username: string, code: string) =>
  computeHmac(keys.subjects, 'recovery code', username, code.replace(/[\s-]/g, '').toLowerCase())

async function createTotp(username: string, secret?: string) {
  const { Secret, TOTP } = await load()
  return new TOTP({
    issuer,
    label: username,
    period: periodSeconds,
    secret: secret === undefined ? new Secret({ size: 20 }) : Secret.fromBase32(secret),
  })
}

async function drawQrCode(text: string): Promise<QrCode> {
  const { encodeQR } = await import('qr')
  const rows = encodeQR(text, 'raw', { border: 4 })
  const squares = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return { size: rows.length, path: squares.join('') }
}

/** Creates a secret for an account. Nothing is stored until a code confirms it. */
export async function startEnrolment(keys: Keys, username: string): Promise<Enrolment> {
  const totp = await createTotp(username)
  const [secret, uri] = [totp.secret.base32, totp.toString()]
  return {
    secret,
    uri,
    qrCode: await drawQrCode(uri),
    enrolment: seal(keys, getEnrolmentContext(username), secret).toString('base64url'),
  }
}

/** Returns the time step of a right code, which can be one step early or late. Returns undefined for a wrong one. */
async function findStep(username: string, secret: string, code: string): Promise<number | undefined> {
  const totp = await createTotp(username, secret)
  const delta = totp.validate({ token: code.replace(/\s/g, ''), window: 1 })
  return delta === null ? undefined : totp.counter() + delta
}

/**
 * Stores the second factor of an account if the code is right. Returns the recovery codes, to be shown once. Returns undefined if the code is
 * wrong or the account has a second factor.
 */
export async function confirmEnrolment(
  tx: Db,
  keys: Keys,
  username: string,
  { enrolment, code }: { enrolment: string; code: string },
): Promise<string[] | undefined> {
  let secret: string
  try {
    secret = unseal(keys, getEnrolmentContext(username), Buffer.from(enrolment, 'base64url'))
  } catch {
    return
  }
  const step = await findStep(username, secret, code)
  if (step === undefined) return
  const recoveryCodes = Array.from({ length: recoveryCodeCount }, () => randomBytes(10).toString('hex'))
  const inserted = await insertSecondFactor(tx, username, {
    secret: seal(keys, getSecondFactorContext(username), secret),
    step,
    recoveryHashes: recoveryCodes.map(recoveryCode => hashRecoveryCode(keys, username, recoveryCode)),
  })
  return inserted ? recoveryCodes : undefined
}

/** Counts an attempt to enter a code. Returns the seconds to wait after too many. */
export async function countCode(db: Db, keys: Keys, username: string) {
  const subject = computeHmac(keys.subjects, 'second factor', username)
  const retryAfter = await countFailure(db, [{ subject, allowed: maxCodesPerMinute }])
  return retryAfter === undefined ? undefined : { retryAfter }
}

/** Accepts a code of the app or a recovery code, once. Returns true if the account has no second factor, and false if the code is wrong. */
export async function acceptCode(tx: Db, keys: Keys, username: string, code: string): Promise<boolean> {
  const stored = await lockSecondFactor(tx, username)
  if (!stored) return true
  const step = await findStep(username, unseal(keys, getSecondFactorContext(username), stored.secret), code)
  if (step !== undefined) return spendStep(tx, username, step)
  return spendRecoveryCode(tx, username, hashRecoveryCode(keys, username, code))
}

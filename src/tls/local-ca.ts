import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  X509Certificate,
} from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { createAtomicallySync, writeAtomicallySync } from '../files/atomic-write.ts'
import { issueCertificate } from './issue-certificate.ts'

/** The files of the local CA and of its certificate for localhost. */
interface LocalFiles {
  /** The CA certificate that clients must trust, for example with `curl --cacert`. */
  caFile: string
  certFile: string
  keyFile: string
}

const hosts = { names: ['localhost'], addresses: ['127.0.0.1', '::1'] }
const dayMs = 86_400_000
const renewalMs = 30 * dayMs
const authorityDays = 3_650
// Some clients reject certificates with a longer validity.
const certificateDays = 397

/**
 * Creates or renews a local CA and its certificate for localhost in `directory`, so that the certificate is valid for at least 30 days.
 * Returns their paths.
 *
 * Each key is created once and kept, and a certificate is always issued for the key in the file. So a crash never leaves a certificate with
 * another key, and two processes that start at the same time don't overwrite each other's key.
 */
export function ensureLocalFiles(directory: string): LocalFiles {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  fs.chmodSync(directory, 0o700)
  const getPath = (name: string) => join(directory, name)
  const files = { caFile: getPath('ca.pem'), certFile: getPath('cert.pem'), keyFile: getPath('key.pem') }
  const key = loadOrCreateKey(files.keyFile)
  let ca = findCertificate(files.caFile)
  if (isUsable(findCertificate(files.certFile), key, ca)) return files

  const caKey = loadOrCreateKey(getPath('ca-key.pem'))
  const authority = { subject: getAuthorityName(caKey), key: caKey }
  if (!ca || !isUsable(ca, caKey, ca)) {
    const certificate = issueCertificate({ ...authority, hosts, ...getValidity(authorityDays) })
    writeAtomicallySync(files.caFile, certificate, 0o644)
    ca = new X509Certificate(certificate)
  }
  const { notBefore, notAfter } = getValidity(certificateDays)
  const end = new Date(Math.min(notAfter.getTime(), ca.validToDate.getTime()))
  writeAtomicallySync(
    files.certFile,
    issueCertificate({ subject: 'localhost', key, hosts, notBefore, notAfter: end, authority }),
    0o644,
  )
  return files
}

function isUsable(certificate: X509Certificate | undefined, key: KeyObject, ca: X509Certificate | undefined): boolean {
  if (!certificate || !ca) return false
  const now = Date.now()
  const isCurrent = certificate.validFromDate.getTime() <= now && certificate.validToDate.getTime() - now > renewalMs
  return (
    isCurrent && certificate.checkPrivateKey(key) && certificate.checkIssued(ca) && certificate.verify(ca.publicKey)
  )
}

// Starts one hour ago, for clients whose clock is behind.
function getValidity(days: number): { notBefore: Date; notAfter: Date } {
  const start = Date.now() - 3_600_000
  return { notBefore: new Date(start), notAfter: new Date(start + days * dayMs) }
}

// The name contains a digest of the key, so that clients can distinguish two CAs in one trust store.
function getAuthorityName(key: KeyObject): string {
  const digest = createHash('sha256')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest('hex')
  return `Tillbridge local authority ${digest.slice(0, 8)}`
}

function findCertificate(file: string): X509Certificate | undefined {
  try {
    return new X509Certificate(fs.readFileSync(file))
  } catch {
    return undefined
  }
}

/** Returns the P-256 key in the file. Creates one if the file is missing or unusable. */
function loadOrCreateKey(file: string): KeyObject {
  const existing = readKey(file)
  if (existing) {
    fs.chmodSync(file, 0o600)
    return existing
  }
  fs.rmSync(file, { force: true })
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  createAtomicallySync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), 0o600)
  return createPrivateKey(fs.readFileSync(file))
}

function readKey(file: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(fs.readFileSync(file))
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined
  } catch {
    return undefined
  }
}

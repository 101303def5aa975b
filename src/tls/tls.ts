import { constants, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, type Server } from 'node:tls'
import { ensureLocalFiles } from './local-ca.ts'

/** Server options of Mozilla's "intermediate" recommendation, version 5.7. */
export const tlsOptions = Object.freeze({
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  honorCipherOrder: true,
  handshakeTimeout: 10_000,
  // Renegotiation costs the server far more than the client (RFC 9325, section 3.5).
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const)

/** A certificate with its chain and its key, in PEM format, and their paths. */
export interface Certificate {
  cert: string
  key: string
  notAfter: Date
  certFile: string
  keyFile: string
}

/**
 * Returns a certificate for localhost, issued by a local CA in `directory`. Creates both on first use, and renews the certificate in the
 * first call within 30 days before it expires. A running server that watches the files loads the new certificate.
 */
export function ensureLocalCertificate(directory: string): Certificate & { caFile: string } {
  const { caFile, certFile, keyFile } = ensureLocalFiles(directory)
  return { ...readCertificate(certFile, keyFile), caFile }
}

/** Reads a certificate and its key. Throws a one-line error that names the file if a server can't use them now. */
export function readCertificate(certFile: string, keyFile: string): Certificate {
  return validateCertificate({ cert: readPem(certFile), key: readPem(keyFile), certFile, keyFile })
}

/** Handlers and interval of a watched certificate. */
interface CertificateWatchOptions {
  /** Called after the server has switched to the new certificate. */
  onChange?: (certificate: Certificate) => void
  /** Called if the new files are invalid; the server keeps the old certificate. */
  onError?: (error: Error) => void
  intervalMs?: number
}

/** Polls the certificate's files, and switches the server to each new valid pair. Returns a function that stops polling. */
export function watchCertificate(
  server: Pick<Server, 'setSecureContext'>,
  inUse: Certificate,
  { onChange = () => {}, onError = () => {}, intervalMs = 3_000 }: CertificateWatchOptions = {},
): () => void {
  const { certFile, keyFile } = inUse
  let handledFingerprint = getFingerprint(() => inUse)
  let previous = handledFingerprint

  // Compares content instead of modification times, which renames, symbolic links and copies can preserve. The two files can be replaced
  // one after the other, so a new pair is loaded once it has stayed the same for one interval.
  const timer = setInterval(() => {
    const now = getFingerprint(() => ({ cert: readPem(certFile), key: readPem(keyFile) }))
    const isStable = now === previous
    previous = now
    if (!isStable || now === handledFingerprint) return
    handledFingerprint = now
    try {
      const certificate = readCertificate(certFile, keyFile)
      server.setSecureContext({ ...tlsOptions, cert: certificate.cert, key: certificate.key })
      onChange(certificate)
    } catch (error) {
      onError(error as Error)
    }
  }, intervalMs)
  timer.unref()
  return () => clearInterval(timer)
}

function getFingerprint(pair: () => { cert: string; key: string }): string {
  try {
    const { cert, key } = pair()
    return `${cert}\n${key}`
  } catch (error) {
    return (error as Error).message
  }
}

function validateCertificate(pair: Omit<Certificate, 'notAfter'>): Certificate {
  const { cert, key, certFile, keyFile } = pair
  const certificate = parseCertificate(cert, certFile)
  if (!certificate.checkPrivateKey(parseKey(key, keyFile))) {
    throw new Error(`The key in ${keyFile} must belong to the certificate in ${certFile}.`)
  }
  const { validFromDate, validToDate } = certificate
  if (validToDate.getTime() <= Date.now()) {
    throw new Error(`The certificate in ${certFile} expired on ${validToDate.toISOString()}. Renew it.`)
  }
  if (validFromDate.getTime() > Date.now()) {
    throw new Error(`The certificate in ${certFile} is not valid before ${validFromDate.toISOString()}.`)
  }
  try {
    createSecureContext({ ...tlsOptions, cert, key })
  } catch (error) {
    throw new Error(`The certificate in ${certFile} can't be used: ${(error as Error).message}.`)
  }
  return { ...pair, notAfter: validToDate }
}

function parseCertificate(cert: string, file: string): X509Certificate {
  try {
    return new X509Certificate(cert)
  } catch {
    throw new Error(`${file} must contain a certificate in PEM format.`)
  }
}

function parseKey(key: string, file: string): KeyObject {
  try {
    return createPrivateKey(key)
  } catch {
    throw new Error(
      key.includes('ENCRYPTED')
        ? `The key in ${file} can't have a passphrase.`
        : `${file} must contain a private key in PEM format.`,
    )
  }
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const requirement = code === 'EACCES' ? ' The user that runs Tillbridge must be able to read it.' : ''
    throw new Error(`${file} can't be read (${code}).${requirement}`)
  }
}

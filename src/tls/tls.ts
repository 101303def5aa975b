import { constants, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, type Server } from 'node:tls'
import { ensureLocalFiles } from './local-ca.ts'

/** Mozilla's "intermediate" recommendation 5.7, for a server. */
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
  // A handshake in a connection that has had one costs us far more than who asks for it (RFC 9325, section 3.5).
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const)

/** A certificate (with its chain) and its key, in PEM form, and where they were read. */
export interface Certificate {
  cert: string
  key: string
  notAfter: Date
  certFile: string
  keyFile: string
}

/**
 * A certificate for localhost by a local authority, both kept under `<directory>`: made on first use, renewed on the first call
 * within 30 days of its end. A running server that watches the files takes the new one over.
 */
export function localCertificate(directory: string): Certificate & { caFile: string } {
  const { caFile, certFile, keyFile } = ensureLocalFiles(directory)
  return { ...readCertificate(certFile, keyFile), caFile }
}

/** Reads a certificate and its key. Throws an error of one line that names the file when a server cannot use them now. */
export function readCertificate(certFile: string, keyFile: string): Certificate {
  return validate({ cert: read(certFile), key: read(keyFile), certFile, keyFile })
}

/** What to do when the files of a watched certificate change. */
interface CertificateWatchOptions {
  /** The server uses the new pair from now on. */
  onChange?: (certificate: Certificate) => void
  /** The server keeps the old pair. */
  onError?: (fault: Error) => void
  intervalMs?: number
}

/** Lets the server take over each new pair that appears in the certificate's files; the returned function ends that. */
export function watchCertificate(
  server: Pick<Server, 'setSecureContext'>,
  inUse: Certificate,
  { onChange = () => {}, onError: onFault = () => {}, intervalMs = 3_000 }: CertificateWatchOptions = {},
): () => void {
  const { certFile, keyFile } = inUse
  let handledFingerprint = getFingerprint(() => inUse)
  let previous = handledFingerprint

  // The content, not the time of change: it is right with renames, symbolic links and copies of any kind. The two files may be
  // replaced one after the other, so that they are looked at once they have stayed the same for an interval.
  const timer = setInterval(() => {
    const now = getFingerprint(() => ({ cert: read(certFile), key: read(keyFile) }))
    const isStable = now === previous
    previous = now
    if (!isStable || now === handledFingerprint) return
    handledFingerprint = now
    try {
      const certificate = readCertificate(certFile, keyFile)
      server.setSecureContext({ ...tlsOptions, cert: certificate.cert, key: certificate.key })
      onChange(certificate)
    } catch (error) {
      onFault(error as Error)
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

function validate(pair: Omit<Certificate, 'notAfter'>): Certificate {
  const { cert, key, certFile, keyFile } = pair
  const certificate = parseCertificate(cert, certFile)
  if (!certificate.checkPrivateKey(parseKey(key, keyFile))) {
    throw new Error(`The key in ${keyFile} does not belong to the certificate in ${certFile}.`)
  }
  const { validFromDate, validToDate } = certificate
  if (validToDate.getTime() <= Date.now()) {
    throw new Error(`The certificate in ${certFile} has expired on ${validToDate.toISOString()}.`)
  }
  if (validFromDate.getTime() > Date.now()) {
    throw new Error(`The certificate in ${certFile} is not valid before ${validFromDate.toISOString()}.`)
  }
  try {
    createSecureContext({ ...tlsOptions, cert, key })
  } catch (error) {
    throw new Error(`The certificate in ${certFile} cannot be used: ${(error as Error).message}.`)
  }
  return { ...pair, notAfter: validToDate }
}

function parseCertificate(cert: string, file: string): X509Certificate {
  try {
    return new X509Certificate(cert)
  } catch {
    throw new Error(`${file} does not hold a certificate in PEM form.`)
  }
}

function parseKey(key: string, file: string): KeyObject {
  try {
    return createPrivateKey(key)
  } catch {
    throw new Error(
      key.includes('ENCRYPTED')
        ? `The key in ${file} has a passphrase; it is needed without.`
        : `${file} does not hold a private key in PEM form.`,
    )
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

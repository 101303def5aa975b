import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { createSample, type Sample } from '../telemetry/samples.ts'
import { type Certificate, ensureLocalCertificate, readCertificate, watchCertificate } from '../tls/tls.ts'

/** The certificate in use: the configured one, or one of the local CA, which clients must trust. */
interface ServedCertificate extends Certificate {
  caFile: string | undefined
}

export const loadCertificate = ({ tlsCertFile, tlsKeyFile, dataDir }: Config): ServedCertificate =>
  tlsCertFile && tlsKeyFile
    ? { ...readCertificate(tlsCertFile, tlsKeyFile), caFile: undefined }
    : ensureLocalCertificate(join(dataDir, 'tls'))

/** The maintenance of a certificate while the server runs. */
export interface CertificateMaintenance {
  expiresAt(): Date
  samples(): Sample[]
  stop(): void
}

const dayMs = 86_400_000
/** A certificate that expires within this many days is logged each day. Local certificates are renewed long before. */
const warningDays = 14

/** Makes the server reload its certificate when the files change, and logs an expiring one. */
export function maintainCertificate(
  { server }: FastifyInstance,
  inUse: ServedCertificate,
  config: Config,
  log: Logger,
): CertificateMaintenance {
  let { notAfter } = inUse
  const warnOfExpiry = () => {
    const days = Math.floor((notAfter.getTime() - Date.now()) / dayMs)
    if (days < warningDays) log.warn({ notAfter, days }, 'certificate expires soon or has expired. Renew it.')
  }
  const unwatch = watchCertificate(server as never, inUse, {
    onChange(certificate) {
      notAfter = certificate.notAfter
      log.info({ notAfter }, 'certificate reloaded')
      warnOfExpiry()
    },
    onError: error => log.error({ err: error }, 'changed certificate is invalid, still using the previous one'),
  })
  // A local certificate is renewed in its last month even without a restart. The file watch loads it.
  const daily = setInterval(() => {
    warnOfExpiry()
    try {
      if (inUse.caFile) loadCertificate(config)
    } catch (error) {
      log.error({ err: error }, 'certificate renewal failed')
    }
  }, dayMs).unref()
  warnOfExpiry()
  return {
    expiresAt: () => notAfter,
    samples: () => [createSample('tillbridge_certificate_expiry_timestamp_seconds', {}, notAfter.getTime() / 1_000)],
    stop() {
      unwatch()
      clearInterval(daily)
    },
  }
}

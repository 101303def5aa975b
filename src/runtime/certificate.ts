import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { createSample, type Sample } from '../telemetry/samples.ts'
import { type Certificate, localCertificate, readCertificate, watchCertificate } from '../tls/tls.ts'

/** What is served with: a certificate of one's own, or that of a local authority, which callers have to trust. */
interface Serving extends Certificate {
  caFile: string | undefined
}

export const loadCertificate = ({ tlsCertFile, tlsKeyFile, dataDir }: Config): Serving =>
  tlsCertFile && tlsKeyFile
    ? { ...readCertificate(tlsCertFile, tlsKeyFile), caFile: undefined }
    : localCertificate(join(dataDir, 'tls'))

/** A certificate that is looked after as long as the server runs. */
interface Kept {
  samples(): Sample[]
  leave(): void
}

const dayMs = 86_400_000
/** One that ends within so many days is told of each day: our own are renewed long before. */
const daysToTell = 14

/** Has the server use what its certificate's files hold, and tells of one that is about to end. */
export function maintainCertificate({ server }: FastifyInstance, inUse: Serving, config: Config, log: Logger): Kept {
  let { notAfter } = inUse
  const tellOfEnd = () => {
    const days = Math.floor((notAfter.getTime() - Date.now()) / dayMs)
    if (days < daysToTell) log.warn({ notAfter, days }, 'certificate expires soon or has expired. Renew it.')
  }
  const unwatch = watchCertificate(server as never, inUse, {
    onChange(certificate) {
      notAfter = certificate.notAfter
      log.info({ notAfter }, 'certificate reloaded')
      tellOfEnd()
    },
    onError: fault => log.error({ err: fault }, 'changed certificate is invalid, still using the previous one'),
  })
  // A local certificate is renewed in its last month, also where nobody starts the service anew; the watch takes it over.
  const daily = setInterval(() => {
    tellOfEnd()
    try {
      if (inUse.caFile) loadCertificate(config)
    } catch (error) {
      log.error({ err: error }, 'certificate renewal failed')
    }
  }, dayMs).unref()
  tellOfEnd()
  return {
    samples: () => [createSample('tillbridge_certificate_expiry_timestamp_seconds', {}, notAfter.getTime() / 1_000)],
    leave() {
      unwatch()
      clearInterval(daily)
    },
  }
}

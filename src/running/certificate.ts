import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { type Certificate, localCertificate, readCertificate, watchCertificate } from '../tls/tls.ts'

/** What is served with: a certificate of one's own, or that of a local authority, which callers have to trust. */
interface Serving extends Certificate {
  caFile: string | undefined
}

export const certificateOf = ({ tlsCertFile, tlsKeyFile, dataDir }: Config): Serving =>
  tlsCertFile && tlsKeyFile
    ? { ...readCertificate(tlsCertFile, tlsKeyFile), caFile: undefined }
    : localCertificate(join(dataDir, 'tls'))

/** Has the server use what its certificate's files hold, for as long as it runs; the returned function ends that. */
export function keepCertificate({ server }: FastifyInstance, inUse: Serving, config: Config, log: Logger): () => void {
  const unwatch = watchCertificate(server as never, inUse, {
    onChange: ({ notAfter }) => log.info({ notAfter }, 'The certificate was read again.'),
    onFault: fault => log.error({ err: fault }, 'The changed certificate cannot be used; the one before stays.'),
  })
  // A local certificate is renewed in its last month, also where nobody starts the service anew; the watch takes it over.
  const renewal = setInterval(() => {
    try {
      if (inUse.caFile) certificateOf(config)
    } catch (error) {
      log.error({ err: error }, 'The certificate cannot be renewed.')
    }
  }, 86_400_000).unref()
  return () => {
    unwatch()
    clearInterval(renewal)
  }
}

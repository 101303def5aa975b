import type pg from 'pg'
import { ignoreError } from '../../telemetry/ignored-errors.ts'

/** Milliseconds without a result after which the detector checks if the database still answers. */
export const suspectAfterMs = 2_000
/** Consecutive checks, one second apart, without an answer before the database counts as stalled. */
const maxMissedChecks = 4
const probeTimeoutMs = 5_000

/**
 * Detects a stalled database: it accepts connections and statements but sends nothing, for instance because it is paused or the network drops
 * its packets. A busy database still greets or rejects a further connection. Counts checks instead of seconds, so that a pause of this process
 * isn't taken for a stall of the database.
 */
export function detectStalls(Client: new (config: pg.ClientConfig) => pg.Client) {
  let missedChecks = 0
  let probe: pg.Client | undefined

  async function sendProbe() {
    const client = new Client({ connectionTimeoutMillis: probeTimeoutMs })
    probe = client
    const hasAnswered = await client.connect().then(
      () => true,
      // Only silence means a stall. An unknown host name or an invalid certificate doesn't.
      ({ code = '' }: { code?: string }) => code !== '' && !/^(ETIMEDOUT|EHOST|ENET|ECONNRESET|EPIPE)/.test(code),
    )
    probe = undefined
    missedChecks = hasAnswered ? 0 : missedChecks + 1
    await ignoreError(client.end(), 'connection was already closed')
  }

  const isStalled = () => missedChecks >= maxMissedChecks
  return {
    isStalled,
    /** Must be called once a second. `isSuspect`: true if a statement has no result yet after `suspectAfterMs`. */
    check(isSuspect: boolean) {
      if (!isSuspect && !isStalled()) missedChecks = 0
      else if (probe) missedChecks++
      else void sendProbe()
    },
    end: () => void (probe && ignoreError(probe.end(), 'connection was already closed')),
  }
}

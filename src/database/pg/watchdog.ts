import type pg from 'pg'
import { ignoreError } from '../../telemetry/ignored-errors.ts'

/** Milliseconds after which a statement that has no answer yet makes us ask whether the database answers anybody. */
export const suspectMs = 2_000
/** Looks in a row, a second apart, without a word from it, after which it is said to stand still. */
const patience = 4
/** Milliseconds after which another connection is tried. */
const greetingMs = 5_000

/**
 * Finds out whether a database answers nobody: it takes connections and statements and says nothing, as when it is halted, or when the
 * way to it swallows all. One that is merely busy greets a further connection, or refuses it. Looks are counted instead of seconds, so
 * that a process of ours that was halted itself blames nobody else.
 */
export function watchStandstill(Client: new (config: pg.ClientConfig) => pg.Client) {
  let unheard = 0
  let asking: pg.Client | undefined

  async function ask() {
    asking = new Client({ connectionTimeoutMillis: greetingMs })
    const client = asking.on('error', () => {})
    const isHeard = await client.connect().then(
      () => true,
      // Silence alone says that nobody is there. A name that is not found, or a certificate, says nothing of the database.
      ({ code = '' }: { code?: string }) => code !== '' && !/^(ETIMEDOUT|EHOST|ENET|ECONNRESET|EPIPE)/.test(code),
    )
    asking = undefined
    unheard = isHeard ? 0 : unheard + 1
    await ignoreError(client.end(), 'connection was already closed')
  }

  const isStill = () => unheard >= patience
  return {
    isStill,
    /** To be called once a second: whether some statement takes its time. */
    look(isSuspect: boolean) {
      if (!isSuspect && !isStill()) unheard = 0
      else if (asking) unheard++
      else void ask()
    },
    end: () => void (asking && ignoreError(asking.end(), 'connection was already closed')),
  }
}

import { handleLater } from '../../telemetry/ignored-errors.ts'
/** What a read brings: whole lines, some to a text, and how what follows them is read, if anything does. */
export interface SyncBatch {
  lines: readonly string[]
  next: (() => Promise<SyncBatch>) | undefined
}

/** The lines of portions, one after the other. The next one is read while whoever asks takes one. */
export async function* readAhead(read: () => Promise<SyncBatch>): AsyncGenerator<string> {
  for (let coming = read(); ; ) {
    const { lines, next } = await coming
    const ahead = next?.()
    // Where the client goes while it is read, nobody waits for it.
    if (ahead) handleLater(ahead)
    yield* lines
    if (!ahead) return
    coming = ahead
  }
}

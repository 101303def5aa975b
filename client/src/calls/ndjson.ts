import { createError } from './errors.ts'

/** The bytes of a response body. */
export type Body = AsyncIterable<Uint8Array>

interface ReadOptions {
  /** Milliseconds without data after which the response is aborted. */
  timeoutMs: number
  signal: AbortSignal | undefined
  /** Aborts the response. */
  end: AbortController
}

/** Yields the records of an NDJSON body. Throws `truncated` if the body is incomplete. */
export async function* readRecords(body: Body, { timeoutMs, signal, end }: ReadOptions): AsyncGenerator<unknown> {
  const abort = () => end.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  const onTimeout = () => end.abort(new Error(`no data for ${timeoutMs} ms`))
  let timer = setTimeout(onTimeout, timeoutMs)
  try {
    signal?.throwIfAborted()
    const decoder = new TextDecoder()
    let rest = ''
    for await (const bytes of reportTruncation(body, signal)) {
      // The timer doesn't run while the reader works.
      clearTimeout(timer)
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield JSON.parse(line)
      timer = setTimeout(onTimeout, timeoutMs)
    }
    if (rest !== '') throw createError('truncated', undefined, {})
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    end.abort()
  }
}

async function* reportTruncation(body: Body, signal: AbortSignal | undefined): Body {
  try {
    yield* body
  } catch (cause) {
    signal?.throwIfAborted()
    throw createError('truncated', undefined, { cause })
  }
}

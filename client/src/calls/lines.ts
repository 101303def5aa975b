import { errorOf } from './errors.ts'

/** The bytes of an answer as they come. */
export type Body = AsyncIterable<Uint8Array>

interface Patience {
  /** How long nothing may come. */
  timeoutMs: number
  signal: AbortSignal | undefined
  /** Ends the answer. */
  end: AbortController
}

/** The records of a list that comes a record a line. One that is cut off ends in an error, never as if it were whole. */
export async function* recordsIn(body: Body, { timeoutMs, signal, end }: Patience): AsyncGenerator<unknown> {
  const giveUp = () => end.abort(signal?.reason)
  signal?.addEventListener('abort', giveUp, { once: true })
  const tooLong = () => end.abort(new Error(`nothing has come for ${timeoutMs} ms`))
  let timer = setTimeout(tooLong, timeoutMs)
  try {
    signal?.throwIfAborted()
    const decoder = new TextDecoder()
    let rest = ''
    for await (const bytes of orCutOff(body, signal)) {
      // While the reader thinks nothing is waited for.
      clearTimeout(timer)
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield JSON.parse(line)
      timer = setTimeout(tooLong, timeoutMs)
    }
    if (rest !== '') throw errorOf('cut_off', undefined, {})
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
    end.abort()
  }
}

async function* orCutOff(body: Body, signal: AbortSignal | undefined): Body {
  try {
    yield* body
  } catch (cause) {
    signal?.throwIfAborted()
    throw errorOf('cut_off', undefined, { cause })
  }
}

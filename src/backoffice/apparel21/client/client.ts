import { type Expected, readDocument, readRecords, type Xml, XmlFault } from '../xml/xml.ts'
import { openCalls } from './calls.ts'
import type { Connection, Limits } from './connection.ts'
import { apiErrorOf, asFailure, Failure } from './failure.ts'
import { type Asking, idIn, type Writing } from './request.ts'
import { requirePlain } from './responses.ts'
import type { Call, End } from './stages.ts'

/** A list as it arrives. */
interface Listed {
  /** Without its records; undefined where there is no such data. */
  root: Xml | undefined
  /** To be walked, or left: until then the call is under way. */
  records: AsyncGenerator<Xml, void>
}

/**
 * Talks to one Retail API. Everything throws an `ApiError`: 503 `back_office_unavailable` where it cannot be reached, is too slow or is
 * given a rest; 502 for an answer that is none; 504 `outcome_unknown` for a write that may have been done; what is refused as
 * `errors.ts` has it, with the refusal in `cause`. Reads are repeated once, within a budget; writes never.
 */
export interface Client {
  readonly connection: Connection
  readonly limits: Limits
  /** A document; undefined where there is no such data. */
  document(asking: Asking & Expected): Promise<Xml | undefined>
  /** The records of a list, which may be an empty body where that stands for none. A fault in the first ones has the call repeated; one in later ones ends the walk. */
  list(asking: Asking & Expected & { mayBeEmpty?: boolean }): Promise<Listed>
  /** The HTML page at the root; empty where there is none. */
  page(signal?: AbortSignal): Promise<string>
  /** Carries out a write. Returns the identifier that `Location` ends in, where there is one. */
  write(writing: Writing): Promise<{ status: number; id: string | undefined }>
  close(): void
}

const mostPageCharacters = 1024 ** 2

export function openClient(connection: Connection): Client {
  const { limits, reading, writing, close } = openCalls(connection)
  return {
    connection,
    limits,
    document: asking =>
      reading(asking, async call => {
        if (!call) return
        requirePlain(call.incoming)
        const root = await readDocument(call.incoming.body, asking.roots)
        if (!root) throw new XmlFault('The answer is empty.')
        return settled(call, root)
      }),
    list: asking =>
      reading(asking, async call => {
        if (!call) return { root: undefined, records: these([]) }
        requirePlain(call.incoming)
        const { body, takeIn } = takenIn(call.incoming.body)
        const { root, records } = await readRecords(body, asking)
        if (!root && !asking.mayBeEmpty) throw new XmlFault('The answer is empty.')
        const most = asking.size === 'bulk' ? 1 : 2 * limits.pageRows
        const first: Xml[] = []
        while (first.length < most) {
          const { value, done } = await records.next()
          if (done) return settled(call, { root, records: these(first) })
          first.push(value)
        }
        if (asking.size === 'bulk') return { root, records: remaining(first, records, call.settle) }
        // A page that turns out to be the whole list: who reads it may have to ask for something else on the way.
        await takeIn()
        const rest = remaining(first, records, error => {
          const fault = error instanceof Failure && error.message
          if (fault) connection.log?.warn({ list: asking.path.join('/'), fault }, 'The end of a list is missing.')
        })
        return settled(call, { root, records: rest })
      }),
    page: signal =>
      reading({ endpoint: 'stores', path: [], ...(signal && { signal }) }, async call => {
        if (!call) return ''
        requirePlain(call.incoming)
        const decoder = new TextDecoder()
        let text = ''
        for await (const bytes of call.incoming.body) {
          text += decoder.decode(bytes, { stream: true })
          if (text.length > mostPageCharacters) throw new Failure('unreadable', 'The page is too large.')
        }
        return settled(call, text)
      }),
    async write(asking) {
      const { status, headers } = await writing(asking)
      return { status, id: idIn(headers.location) }
    },
    close,
  }
}

function settled<T>(call: Call, value: T): T {
  call.settle()
  return value
}

async function* these(records: readonly Xml[]): AsyncGenerator<Xml, void> {
  yield* records
}

/** A body that can be taken in, as it is, from wherever its reader has come to: the rest is read without the back office. */
function takenIn(body: AsyncIterable<Uint8Array>) {
  const source = body[Symbol.asyncIterator]()
  const taken: Uint8Array[] = []
  async function* read(): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const kept = taken.shift()
        const { value, done } = kept ? { value: kept } : await source.next()
        if (done) return
        yield value
      }
    } finally {
      await source.return?.()
    }
  }
  const takeIn = async () => {
    for (let next = await source.next(); !next.done; next = await source.next()) taken.push(next.value)
  }
  return { body: read(), takeIn }
}

/** The rest of a list, which may be still coming. */
async function* remaining(first: readonly Xml[], records: AsyncGenerator<Xml>, end: End): AsyncGenerator<Xml, void> {
  try {
    yield* first
    yield* records
  } catch (error) {
    const failure = asFailure(error)
    end(failure)
    throw failure instanceof Failure ? apiErrorOf(failure, false) : error
  } finally {
    await records.return(undefined)
    end()
  }
}

import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import type { Static, TObject, TSchema } from '../../schemas/schemas.ts'
import { admit, type Gate } from '../admission/admit.ts'
import { interruptedBody } from '../body/body.ts'
import { concurrencyLimit } from '../limits/concurrency-limit.ts'
import { logFault } from '../problem.ts'
import { type Context, contextOf, type Described, gateOf, json, type Params, withQuery } from './operation.ts'
import { isTrial } from './prefer.ts'
import { readQuery } from './query.ts'

/** What a body that is a file may be, and what its lines then are. */
export const fileTypes = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' } as const

/** Bytes, as they are sent. */
const largestFile = 256 * 1024 * 1024
/** Files that a process works on at a time, whosever they are: each has a connection or two. */
const mostAtWork = 4

/** Bodies that are files come as streams; what takes none has refused them by their type before. */
export const takeFiles = (server: FastifyInstance) =>
  server.addContentTypeParser(Object.keys(fileTypes), (_, body, done) => done(null, body))

export interface UploadDescribed<Q extends TObject, P extends Params> extends Described<P> {
  query: Q
  answer: TSchema
}

export interface UploadContext<Query, P extends Params> extends Context<Query, P> {
  format: 'csv' | 'ndjson'
  /** That of its `Content-Type`. */
  charset: string | undefined
  username: string
  requestId: string
  /** `Prefer: tx=rollback`: nothing is to be written. */
  isTrial: boolean
  /** Aborted once the process is on its way out. */
  ending: AbortSignal
  /** Takes the body to its end, for as long as the caller needs, with nothing of ours held; once. */
  file(): Promise<Readable>
}

/** What is answered at once; `work` goes on. */
export interface AcceptedUpload {
  record: string
  subject: string
  work: Promise<unknown>
}

/** Returns the function that registers a POST whose body is a file. The work on the file continues after the response. */
export function uploadRouter(server: FastifyInstance, gate: Gate) {
  const atWork = new Set<Promise<unknown>>()
  const openUpload = concurrencyLimit('too_many_imports')
  server.addHook('onClose', async () => void (await Promise.allSettled(atWork)))
  const room = roomFor(mostAtWork)

  return (
    path: string,
    { role = 'maintainer', query: shape }: UploadDescribed<TObject, Params>,
    accept: (context: UploadContext<Static<TObject>, Params>) => Promise<AcceptedUpload>,
  ) => {
    server.post(
      path,
      {
        async onRequest(request, reply) {
          await admit(gate, request, reply, { role, policy: 'write', media: ['json'] })
          fileTypeOf(request)
        },
      },
      async (request, reply) => {
        const context = contextOf(gateOf(gate, request), request)
        const { query, errors: faults } = readQuery(shape, request.query as string, context.service.settings.timeZone)
        throwIfAny(faults)
        room.require()
        return openUpload(request, async goesOn => {
          const trial = isTrial(context.header('prefer'))
          if (trial) reply.header('preference-applied', 'tx=rollback')
          let taken: Readable | undefined
          let letGo = () => {}
          const accepting = accept({
            ...withQuery(context, query),
            ...fileTypeOf(request),
            username: request.username ?? '',
            requestId: request.id,
            isTrial: trial,
            ending: gate.ending,
            async file() {
              taken = await spooled(request)
              letGo = room.take()
              return taken
            },
          })
          const { record, subject, work } = await accepting.catch(error => {
            taken?.destroy()
            letGo()
            throw error
          })
          const working = work
            .catch(error => logFault(request, error))
            .finally(() => {
              letGo()
              atWork.delete(working)
            })
          atWork.add(working)
          goesOn(working)
          return reply.code(202).header('location', subject).type(json).send(`{"data":${record}}`)
        })
      },
    )
  }
}

/** Room for so many files that somebody works on, or is about to. What `take` answers gives it back. */
function roomFor(most: number) {
  let inHand = 0
  const room = {
    require() {
      if (inHand >= most) throw new ApiError('too_many_imports', undefined, { retryAfter: 20 })
    },
    take() {
      room.require()
      inHand++
      return () => void inHand--
    },
  }
  return room
}

/** How a file can be packed; whether it is, is seen by its first bytes. */
const codings = ['identity', 'gzip', 'zstd']

/** What the lines of the body are, and which letters they have, by its type. */
function fileTypeOf({ headers }: FastifyRequest) {
  const [type = '', ...parameters] = String(headers['content-type'] ?? '')
    .split(';')
    .map(part => part.trim().toLowerCase())
  const format = Object.entries(fileTypes).find(([known]) => known === type)?.[1]
  if (!format)
    throw new ApiError('unsupported_media_type', '`Content-Type` must be `text/csv` or `application/x-ndjson`.')
  if (!codings.includes(String(headers['content-encoding'] ?? 'identity').toLowerCase()))
    throw new ApiError('unsupported_media_type', '`Content-Encoding` must be `gzip` or `zstd`, or absent.')
  const [charset] = parameters.flatMap(parameter => /^charset="?([^"]*)"?$/.exec(parameter)?.[1] ?? [])
  return { format, charset }
}

const tooLarge = () =>
  new ApiError(
    'body_too_large',
    `The file is too large: it can have at most ${largestFile / 1024 / 1024} MiB as sent.`,
    {
      headers: { connection: 'close' },
    },
  )

/** Keeps a body in a file without a name, which nobody else can open, and which goes with the process. */
async function spooled({ body, headers }: FastifyRequest): Promise<Readable> {
  if (Number(headers['content-length'] ?? 0) > largestFile) throw tooLarge()
  const { writing, reading } = await unnamedFile().catch(refused)
  try {
    await pipeline((body ?? []) as Readable, withinBounds, writing.createWriteStream())
    return reading.createReadStream({ start: 0, highWaterMark: 64 * 1024 })
  } catch (error) {
    await reading.close()
    return refused(error)
  }
}

const unspooled: Readonly<Record<string, () => ApiError>> = {
  // How Node tells of a stream that is reset over HTTP/2.
  ERR_STREAM_PREMATURE_CLOSE: interruptedBody,
  ENOSPC: () =>
    new ApiError('service_unavailable', 'There is no disk space for the file at the moment.', { retryAfter: 30 }),
}

function refused(error: unknown): never {
  throw unspooled[(error as NodeJS.ErrnoException).code ?? '']?.() ?? error
}

async function* withinBounds(chunks: AsyncIterable<Buffer>) {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > largestFile) throw tooLarge()
    yield chunk
  }
}

async function unnamedFile() {
  const directory = await mkdtemp(join(tmpdir(), 'tillbridge-import-'))
  const path = join(directory, 'file')
  try {
    const writing = await open(path, 'wx', 0o600)
    try {
      return { writing, reading: await open(path) }
    } catch (error) {
      await writing.close()
      throw error
    }
  } finally {
    await rm(directory, { recursive: true })
  }
}

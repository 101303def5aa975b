import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import type { Static, TObject, TSchema } from '../../schemas/schemas.ts'
import { ignoreError } from '../../telemetry/ignored-errors.ts'
import { admit } from '../admission/admit.ts'
import type { AppContext } from '../app-context.ts'
import { interruptedBody } from '../body/body.ts'
import { concurrencyLimit } from '../limits/concurrency-limit.ts'
import { logServerError } from '../problem.ts'
import {
  createReadContext,
  json,
  type Params,
  type ReadContext,
  type RouteOperation,
  type RouteOptions,
  selectAppContext,
  withQuery,
} from './operation.ts'
import { prefersDryRun } from './prefer.ts'
import { parseQuery } from './query.ts'

/** The media types of files, and the format of each. */
export const fileTypes = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' } as const

/** Bytes of a file as sent, possibly compressed. */
export const maxFileBytes = 256 * 1024 * 1024
/**
 * Files that a process imports at a time, over all services. Each needs one or two database connections. One service can import half as
 * many.
 */
const maxConcurrentFiles = 6

/** Makes file bodies arrive as streams. A route that accepts no files has rejected them by their type before. */
export const acceptFileBodies = (server: FastifyInstance) =>
  server.addContentTypeParser(Object.keys(fileTypes), (_, body, done) => done(null, body))

export interface UploadRouteOptions<Q extends TObject, P extends Params> extends RouteOptions<P> {
  query: Q
  response: TSchema
}

export interface UploadContext<Query, P extends Params> extends ReadContext<Query, P> {
  format: 'csv' | 'ndjson'
  /** The charset of the `Content-Type`. */
  charset: string | undefined
  username: string
  requestId: string
  /** True for `Prefer: tx=rollback`: no records are written. */
  isDryRun: boolean
  /** Aborted when the process shuts down. */
  shutdownSignal: AbortSignal
  /** Receives the complete body and returns it as an open file. Call it once. No connection or lock is kept while the caller sends. */
  file(): Promise<FileHandle>
}

/** The response of an accepted upload. Its `work` continues. */
export interface AcceptedUpload {
  record: string
  subject: string
  work: Promise<unknown>
}

/** Returns the function that registers a POST whose body is a file. The work on the file continues after the response. */
export function uploadRouter(server: FastifyInstance, app: AppContext) {
  const running = new Set<Promise<unknown>>()
  const limitUploads = concurrencyLimit('too_many_imports')
  server.addHook('onClose', async () => void (await Promise.allSettled(running)))
  const slots = createFileSlots(maxConcurrentFiles)

  return (
    operation: RouteOperation,
    { query: schema }: UploadRouteOptions<TObject, Params>,
    accept: (context: UploadContext<Static<TObject>, Params>) => Promise<AcceptedUpload>,
  ) => {
    server.post(
      operation.path,
      {
        async onRequest(request, reply) {
          await admit(app, request, reply, { operation, policy: 'write', media: ['json'] })
          parseFileType(request)
        },
      },
      async (request, reply) => {
        const context = createReadContext(selectAppContext(app, request), request)
        const { query, errors } = parseQuery(schema, request.query as string, context.service.settings.timeZone)
        throwIfAny(errors)
        slots.requireFree(context.service.id)
        return limitUploads(request, async keepOpen => {
          const isDryRun = prefersDryRun(context.header('prefer'))
          if (isDryRun) reply.header('preference-applied', 'tx=rollback')
          let received: FileHandle | undefined
          const close = () => received && ignoreError(received.close(), 'upload was already closed')
          let releaseSlot = () => {}
          const accepting = accept({
            ...withQuery(context, query),
            ...parseFileType(request),
            username: request.username ?? '',
            requestId: request.id,
            isDryRun,
            shutdownSignal: app.shutdownSignal,
            async file() {
              received = await spoolBody(request)
              releaseSlot = slots.acquire(context.service.id)
              return received
            },
          })
          const { record, subject, work } = await accepting.catch(error => {
            void close()
            releaseSlot()
            throw error
          })
          const finished = work
            .catch(error => logServerError(request, error))
            .finally(() => {
              void close()
              releaseSlot()
              running.delete(finished)
            })
          running.add(finished)
          keepOpen(finished)
          return reply.code(202).header('location', subject).type(json).send(`{"data":${record}}`)
        })
      },
    )
  }
}

/** Creates the slots for concurrent files. They throw `too_many_imports` if none is free, or if the service has half of them. */
function createFileSlots(max: number) {
  const used: number[] = []
  const requireFree = (service: number) => {
    const usedByService = used.filter(id => id === service).length
    if (used.length >= max || usedByService >= max / 2)
      throw new ApiError('too_many_imports', undefined, { retryAfter: 20 })
  }
  return {
    requireFree,
    /** Takes a slot. Returns the function that releases it. */
    acquire(service: number) {
      requireFree(service)
      used.push(service)
      return () => void used.splice(used.indexOf(service), 1)
    },
  }
}

/** The accepted values of `Content-Encoding`. The first bytes of the file show whether it is compressed. */
const codings = ['identity', 'gzip', 'zstd']

/** Returns the format and the charset of a file body. Throws `unsupported_media_type` for other types. */
function parseFileType({ headers }: FastifyRequest) {
  const [type = '', ...parameters] = String(headers['content-type'] ?? '')
    .split(';')
    .map(part => part.trim().toLowerCase())
  const format = Object.entries(fileTypes).find(([mediaType]) => mediaType === type)?.[1]
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
    `The file is too large: it can have at most ${maxFileBytes / 1024 / 1024} MiB as sent.`,
    {
      headers: { connection: 'close' },
    },
  )

/** Writes a body to an unlinked file, which no other user can open and which vanishes with the process. Returns it open for reading. */
async function spoolBody({ body, headers }: FastifyRequest): Promise<FileHandle> {
  if (Number(headers['content-length'] ?? 0) > maxFileBytes) throw tooLarge()
  const { writing, reading } = await openUnlinkedFile().catch(throwSpoolError)
  try {
    await pipeline((body ?? []) as Readable, limitSize, writing.createWriteStream())
    return reading
  } catch (error) {
    await reading.close()
    return throwSpoolError(error)
  }
}

const spoolErrors: Readonly<Record<string, () => ApiError>> = {
  // Node reports a stream that is reset over HTTP/2 like this.
  ERR_STREAM_PREMATURE_CLOSE: interruptedBody,
  ENOSPC: () =>
    new ApiError('service_unavailable', 'There is no disk space for the file at the moment.', { retryAfter: 30 }),
}

function throwSpoolError(error: unknown): never {
  throw spoolErrors[(error as NodeJS.ErrnoException).code ?? '']?.() ?? error
}

async function* limitSize(chunks: AsyncIterable<Buffer>) {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > maxFileBytes) throw tooLarge()
    yield chunk
  }
}

async function openUnlinkedFile() {
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

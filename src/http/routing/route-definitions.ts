/**
 * The definitions of the API's routes. A resource exports a list of them.
 * The router, the OpenAPI document (and with it the generated client) and write recovery read the same list.
 */
import type { CapabilityName } from '../../backoffice/port/back-office.ts'
import type { RunLimited } from '../../concurrency/semaphore.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { FieldError } from '../../errors/api-error.ts'
import { type Static, type TObject, type TSchema, Type } from '../../schemas/schemas.ts'
import type { Page, PageRequest } from '../../store/lists/page.ts'
import type { Media } from '../negotiation/accept.ts'
import { PageResponse, type PageResult, pagingParameters } from '../pagination/lists.ts'
import type { BulkExport } from '../streaming/bulk-export.ts'
import type { LongRequest } from '../streaming/long-poll.ts'
import type { Context, Described, Operation, Params, WholeList } from './operation.ts'
import type { AcceptedUpload, UploadContext, UploadDescribed } from './uploads.ts'
import { type How, howOf, type WriteDescribed, type WriteMethod, type WriteWork } from './writes.ts'

interface ReadOptions<Q extends TObject, P extends Params> extends Described<P> {
  query?: Q
  /** Returns the errors of a query that its schema can't express. `given` also has the parameters that could not be read. */
  judge?: (query: Partial<Static<Q>>, given: URLSearchParams, service: Service) => FieldError[]
}

export interface GetOptions<Q extends TObject = TObject, P extends Params = Params> extends ReadOptions<Q, P> {
  answer: TSchema
  /** The name of the record in a 404. Default `record`. */
  kind?: string
  /** Sends an ETag and handles `If-None-Match`. */
  etag?: boolean
  /** The bulk export of a list. */
  whole?: WholeList & { of: (context: Context<Static<Q>, P>, turn: RunLimited) => Promise<BulkExport> }
}

export interface ListOptions<Q extends TObject = TObject, P extends Params = Params> extends ReadOptions<Q, P> {
  item: TSchema
  /** The number of records on a page without a `limit`. Default 100. */
  withoutLimit?: number
  /** The capability of a back office without which the list is incomplete. A warning then says what is missing. */
  needs?: CapabilityName
  /** The sync that fills the list. `meta.syncedAt` is the time of its last run. */
  sync?: string
}

/** Data as stored JSON or as a value, and members of `meta`. */
type GetResult = ({ record: string } | { data: unknown }) & { meta?: object }

type GetHandler<Q extends TObject, P extends Params> = (
  context: Context<Static<Q>, P>,
  waits: () => LongRequest,
) => Promise<GetResult | undefined>
type ListHandler<Q extends TObject, P extends Params> = (
  context: Context<Static<Q>, P>,
  asked: PageRequest,
) => Promise<Page | PageResult>
type StreamHandler<Q extends TObject, P extends Params> = (
  context: Context<Static<Q>, P>,
  waiting: LongRequest,
) => Promise<AsyncIterable<string>>
type UploadHandler<Q extends TObject, P extends Params> = (
  context: UploadContext<Static<Q>, P>,
) => Promise<AcceptedUpload>

export interface GetRoute {
  type: 'get'
  operation: Operation
  options: GetOptions
  handler: GetHandler<TObject, Params>
}
export interface ListRoute {
  type: 'list'
  operation: Operation
  options: ListOptions
  /** The filters of the list with `limit` and `after_cursor`. */
  query: TObject
  handler: ListHandler<TObject, Params>
}
export interface StreamRoute {
  type: 'stream'
  operation: Operation
  options: GetOptions
  handler: StreamHandler<TObject, Params>
}
export interface WriteRoute {
  type: 'write'
  operation: Operation
  options: WriteDescribed<TSchema, Params>
  how: How
  handler: WriteWork
}
export interface UploadRoute {
  type: 'upload'
  operation: Operation
  options: UploadDescribed<TObject, Params>
  handler: UploadHandler<TObject, Params>
}
export type RouteDefinition = GetRoute | ListRoute | StreamRoute | WriteRoute | UploadRoute

export const noQuery = Type.Object({})
const listMedia: Media = ['json', 'lines']

function readOperation(
  path: string,
  described: Described<Params> & Pick<GetOptions, 'query' | 'answer' | 'etag'>,
  { whole, media = whole ? listMedia : ['json'] }: { whole?: WholeList | undefined; media?: Media } = {},
): Operation {
  const { operationId, tag, summary, description, heedsStrict, answer } = described
  const { params = {}, headers = {}, errors = [], query = noQuery, etag = false, role = 'visitor' } = described
  return {
    method: 'GET',
    path,
    operationId,
    tag,
    summary,
    description,
    role,
    params,
    query,
    headers,
    answer,
    media,
    errors,
    statuses: [200],
    etag,
    repeatable: false,
    warns: false,
    ...(heedsStrict && { heedsStrict }),
    ...(whole && { whole }),
  }
}

/** Defines a route that returns one record, or other data that is not a list. A handler that returns undefined means 404. */
export const get = <Q extends TObject, P extends Params>(
  path: string,
  options: GetOptions<Q, P>,
  handler: GetHandler<Q, P>,
): GetRoute => {
  const { whole } = options
  const exported = whole && { item: whole.item, ...(whole.hasEndCursor && { hasEndCursor: true }) }
  const operation = readOperation(path, options, { whole: exported })
  return { type: 'get', operation, options: options as never, handler: handler as never }
}

/** Defines a list with cursors and a bulk export. */
export const list = <Q extends TObject, P extends Params>(
  path: string,
  options: ListOptions<Q, P>,
  handler: ListHandler<Q, P>,
): ListRoute => {
  const { item, withoutLimit = 100, query: filters } = options
  const query = Type.Object({ ...(filters?.properties ?? {}), ...pagingParameters(withoutLimit) })
  const operation = readOperation(path, { ...options, query, answer: PageResponse(item) }, { whole: { item } })
  return { type: 'list', operation, options: options as never, query, handler: handler as never }
}

/** Defines a stream of server-sent events. An error before the first event is an ordinary error response. */
export const stream = <Q extends TObject, P extends Params>(
  path: string,
  options: GetOptions<Q, P>,
  handler: StreamHandler<Q, P>,
): StreamRoute => {
  const operation = readOperation(path, options, { media: ['events'] })
  return { type: 'stream', operation, options: options as never, handler: handler as never }
}

const write =
  (method: WriteMethod) =>
  <B extends TSchema, P extends Params>(
    path: string,
    options: WriteDescribed<B, P>,
    handler: WriteWork<Static<B>, P>,
  ): WriteRoute => {
    const { params = {}, headers = {}, errors = [], role = 'maintainer' } = options
    const how = howOf(method, path, options)
    const { warns = false, statuses = [how.status], operationId, tag, summary, description, answer, body } = options
    const { etag, repeatable, keepsEmptyTexts, made } = how
    const operation: Operation = {
      method,
      path,
      operationId,
      tag,
      summary,
      description,
      role,
      params,
      query: noQuery,
      headers,
      body,
      answer,
      media: ['json'],
      errors,
      statuses,
      etag,
      repeatable,
      warns,
      keepsEmptyTexts,
      made,
    }
    return { type: 'write', operation, options: options as never, how, handler: handler as never }
  }

/** Define writes. Their effect, audit entry and response are committed in one transaction. */
export const post = write('POST')
export const put = write('PUT')
export const del = write('DELETE')

/** Defines a POST whose body is a file. Its work continues after the response. */
export const upload = <Q extends TObject, P extends Params>(
  path: string,
  options: UploadDescribed<Q, P>,
  handler: UploadHandler<Q, P>,
): UploadRoute => {
  const { operationId, tag, summary, description, heedsStrict, answer, query } = options
  const { params = {}, headers = {}, errors: own = [], role = 'maintainer' } = options
  const errors = [...own, 'unsupported_media_type', 'body_too_large', 'too_many_imports'] as const
  const operation: Operation = {
    method: 'POST',
    path,
    operationId,
    tag,
    summary,
    description,
    role,
    params,
    query,
    headers,
    answer,
    errors,
    files: true,
    media: ['json'],
    statuses: [202],
    etag: false,
    repeatable: false,
    warns: false,
    ...(heedsStrict && { heedsStrict }),
  }
  return { type: 'upload', operation, options: options as never, handler: handler as never }
}

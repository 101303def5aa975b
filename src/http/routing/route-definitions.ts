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
import { toScope, toStoreSource } from '../admission/scopes.ts'
import type { Media } from '../negotiation/accept.ts'
import { buildPagingParameters, PageResponse, type PageResult } from '../pagination/lists.ts'
import type { BulkExport } from '../streaming/bulk-export.ts'
import type { LongRequest } from '../streaming/long-poll.ts'
import type { Params, ReadContext, RouteOperation, RouteOptions } from './operation.ts'
import type { AcceptedUpload, UploadContext, UploadRouteOptions } from './uploads.ts'
import {
  toWriteOptions,
  type WriteMethod,
  type WriteOptions,
  type WriteRouteOptions,
  type WriteWork,
} from './writes.ts'

interface ReadOptions<Q extends TObject, P extends Params> extends RouteOptions<P> {
  query?: Q
  /** Returns the errors of a query that its schema can't express. `sent` also has the parameters that could not be read. */
  validate?: (query: Partial<Static<Q>>, sent: URLSearchParams, service: Service) => FieldError[]
}

export interface GetOptions<Q extends TObject = TObject, P extends Params = Params> extends ReadOptions<Q, P> {
  response: TSchema
  /** The name of the record in a 404. Default `record`. */
  recordName?: string
  /** Sends an ETag and handles `If-None-Match`. */
  etag?: boolean
  bulkExport?: {
    /** The schema of each line. */
    item: TSchema
    /** Begins an export whose chunks use connections within the limit. */
    begin: (context: ReadContext<Static<Q>, P>, limit: RunLimited) => Promise<BulkExport>
  }
}

interface ListOptions<Q extends TObject = TObject, P extends Params = Params> extends ReadOptions<Q, P> {
  item: TSchema
  /** The number of records on a page without a `limit`. Default 100. */
  defaultLimit?: number
  /** The capability of a back office without which the list is incomplete. A warning then describes the missing part. */
  requires?: CapabilityName
  /** The sync that fills the list. `meta.syncedAt` is the time of its last run. */
  sync?: string
}

/** Data as stored JSON or as a value, and members of `meta`. */
type GetResult = ({ record: string } | { data: unknown }) & { meta?: object }

type GetHandler<Q extends TObject, P extends Params> = (
  context: ReadContext<Static<Q>, P>,
  beginWait: () => LongRequest,
) => Promise<GetResult | undefined>
type ListHandler<Q extends TObject, P extends Params> = (
  context: ReadContext<Static<Q>, P>,
  page: PageRequest,
) => Promise<Page | PageResult>
type StreamHandler<Q extends TObject, P extends Params> = (
  context: ReadContext<Static<Q>, P>,
  long: LongRequest,
) => Promise<AsyncIterable<string>>
type UploadHandler<Q extends TObject, P extends Params> = (
  context: UploadContext<Static<Q>, P>,
) => Promise<AcceptedUpload>

export interface GetRoute {
  type: 'get'
  operation: RouteOperation
  options: GetOptions
  handler: GetHandler<TObject, Params>
}
export interface ListRoute {
  type: 'list'
  operation: RouteOperation
  options: ListOptions
  /** The filters of the list with `limit` and `after_cursor`. */
  query: TObject
  handler: ListHandler<TObject, Params>
}
export interface StreamRoute {
  type: 'stream'
  operation: RouteOperation
  options: GetOptions
  handler: StreamHandler<TObject, Params>
}
export interface WriteRoute {
  type: 'write'
  operation: RouteOperation
  options: WriteRouteOptions<TSchema, Params>
  writeOptions: WriteOptions
  handler: WriteWork
}
interface UploadRoute {
  type: 'upload'
  operation: RouteOperation
  options: UploadRouteOptions<TObject, Params>
  handler: UploadHandler<TObject, Params>
}
export type RouteDefinition = GetRoute | ListRoute | StreamRoute | WriteRoute | UploadRoute

export const noQuery = Type.Object({})
const listMedia: Media = ['json', 'lines']

function readOperation(
  path: string,
  options: RouteOptions<Params> & Pick<GetOptions, 'query' | 'response' | 'etag'>,
  { exportLine, media = exportLine ? listMedia : ['json'] }: { exportLine?: TSchema | undefined; media?: Media } = {},
): RouteOperation {
  const { operationId, tag, summary, description, supportsStrict, response, deprecated } = options
  const { params = {}, headers = {}, errors = [], query = noQuery, etag = false, role = 'visitor' } = options
  const scope = toScope(options, 'read')
  return {
    method: 'GET',
    path,
    operationId,
    tag,
    summary,
    description,
    role,
    scope,
    storeSource: toStoreSource({ tag, scope, params, query }),
    params,
    query,
    headers,
    response,
    media,
    errors,
    statuses: [200],
    etag,
    repeatable: false,
    deprecated,
    warns: false,
    ...(supportsStrict && { supportsStrict }),
    ...(exportLine && { exportLine }),
  }
}

/** Defines a route that returns one record, or other data that is not a list. A handler that returns undefined means 404. */
export const get = <Q extends TObject, P extends Params>(
  path: string,
  options: GetOptions<Q, P>,
  handler: GetHandler<Q, P>,
): GetRoute => {
  const operation = readOperation(path, options, { exportLine: options.bulkExport?.item })
  return { type: 'get', operation, options: options as never, handler: handler as never }
}

/** Defines a list with cursors and a bulk export. */
export const list = <Q extends TObject, P extends Params>(
  path: string,
  options: ListOptions<Q, P>,
  handler: ListHandler<Q, P>,
): ListRoute => {
  const { item, defaultLimit = 100, query: filters } = options
  const query = Type.Object({ ...(filters?.properties ?? {}), ...buildPagingParameters(defaultLimit) })
  const etag = 'updated_after' in query.properties
  const operation = readOperation(path, { ...options, query, etag, response: PageResponse(item) }, { exportLine: item })
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
    options: WriteRouteOptions<B, P>,
    handler: WriteWork<Static<B>, P>,
  ): WriteRoute => {
    const { params = {}, headers = {}, errors = [], role = 'maintainer' } = options
    const writeOptions = toWriteOptions(method, path, options)
    const {
      warns = false,
      statuses = [writeOptions.status],
      operationId,
      tag,
      summary,
      description,
      response,
      body,
      deprecated,
    } = options
    const { etag, repeatable, keepsEmptyTexts, generated } = writeOptions
    const scope = toScope(options, options.policy ?? 'write')
    const operation: RouteOperation = {
      method,
      path,
      operationId,
      tag,
      summary,
      description,
      role,
      scope,
      storeSource: toStoreSource({ tag, scope, params, query: noQuery, body }),
      params,
      query: noQuery,
      headers,
      body,
      response,
      media: ['json'],
      errors,
      statuses,
      etag,
      repeatable,
      deprecated,
      warns,
      keepsEmptyTexts,
      generated,
    }
    return { type: 'write', operation, options: options as never, writeOptions, handler: handler as never }
  }

/** Define writes. Their effect, audit entry and response are committed in one transaction. */
export const post = write('POST')
export const put = write('PUT')
export const del = write('DELETE')

/** Options of a POST that computes a response and changes nothing: it has no audit entry, and can be repeated without a key. */
export const calculation = {
  role: 'visitor',
  policy: 'read',
  status: 200,
  isAudited: false,
  repeatable: false,
} as const

/** Defines a POST whose body is a file. Its work continues after the response. */
export const upload = <Q extends TObject, P extends Params>(
  path: string,
  options: UploadRouteOptions<Q, P>,
  handler: UploadHandler<Q, P>,
): UploadRoute => {
  const { operationId, tag, summary, description, supportsStrict, response, query, deprecated } = options
  const { params = {}, headers = {}, errors: ownErrors = [], role = 'maintainer' } = options
  const errors = [...ownErrors, 'unsupported_media_type', 'body_too_large', 'too_many_imports'] as const
  const scope = toScope(options, 'write')
  const operation: RouteOperation = {
    method: 'POST',
    path,
    operationId,
    tag,
    summary,
    description,
    role,
    scope,
    storeSource: toStoreSource({ tag, scope, params, query }),
    params,
    query,
    headers,
    response,
    errors,
    files: true,
    media: ['json'],
    statuses: [202],
    etag: false,
    repeatable: false,
    deprecated,
    warns: false,
    ...(supportsStrict && { supportsStrict }),
  }
  return { type: 'upload', operation, options: options as never, handler: handler as never }
}

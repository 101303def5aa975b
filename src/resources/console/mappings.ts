import { mappedKinds, sureReasons } from '../../domain/mappings/mapping-check.ts'
import { Id, OneOf, Text } from '../../domain/values/fields.ts'
import { notFound } from '../../errors/api-error.ts'
import { Filter } from '../../http/pagination/lists.ts'
import { get, post } from '../../http/routing/route-definitions.ts'
import { Type } from '../../schemas/schemas.ts'
import {
  acceptSuggestions,
  batchExists,
  listBatches,
  previewSuggestions,
  undoBatch,
} from '../../store/mappings/batches.ts'
import { findPlatformItems } from '../../store/mappings/find-items.ts'
import { consoleRoute } from './console-data.ts'

const [tag, role] = ['Mappings', 'admin'] as const
const path = '/console/mappings'
const kind = OneOf('The kind of mapping.', mappedKinds)
const reason = Type.Optional(OneOf('Only suggestions with this reason.', sureReasons))
const batchId = Id('The ID of the batch.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44')
const kindParams = { kind: { description: 'The kind of mapping.', example: 'skus' } }
const batchParams = { id: { description: 'The batch.', example: '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44' } }

const toKind = (value: string) => {
  const match = mappedKinds.find(mapped => mapped === value)
  if (!match) throw notFound('kind of mapping')
  return match
}

/** Mappings: platform items to choose from, and sure suggestions that are accepted together. */
export const consoleMappings = [
  get(
    `${path}/:kind/items`,
    {
      ...consoleRoute,
      operationId: 'findPlatformItems',
      tag,
      role,
      summary: 'Find platform items',
      params: kindParams,
      query: Type.Object({ q: Filter('The beginning of an identifier, or part of a name.', 'MH01', 100) }),
    },
    async ({ db, service, params, query: { q = '' } }) => ({
      data: await findPlatformItems(db, service, toKind(params.kind), q.trim()),
    }),
  ),

  get(
    `${path}/:kind/suggestions`,
    {
      ...consoleRoute,
      operationId: 'previewSuggestions',
      tag,
      role,
      summary: 'Preview sure suggestions',
      params: kindParams,
      query: Type.Object({ reason }),
    },
    async ({ db, service, params, query }) => ({
      data: await previewSuggestions(db, service, toKind(params.kind), query.reason),
    }),
  ),

  get(
    `${path}/batches`,
    { ...consoleRoute, operationId: 'listMappingBatches', tag, role, summary: 'List batches of fixes' },
    async ({ db, service }) => ({ data: await listBatches(db, service) }),
  ),

  post(
    `${path}/batches`,
    {
      ...consoleRoute,
      operationId: 'acceptSuggestions',
      tag,
      role,
      status: 200,
      summary: 'Accept the next sure suggestions of a batch',
      body: Type.Object(
        {
          kind,
          reason,
          batch: Type.Optional(batchId),
          after: Type.Optional(Text('The last record of the previous part.', '12001', 500)),
        },
        { $id: 'MappingBatchInput', additionalProperties: false },
      ),
      generated: ['id'],
    },
    ({ service, username, requestId, body: { batch, after, ...input } }) =>
      async tx => {
        if (batch !== undefined && !(await batchExists(tx, service, batch, input.kind))) throw notFound('batch')
        const { result, changes } = await acceptSuggestions(
          tx,
          service,
          { ...input, batchId: batch, after },
          { username, requestId },
        )
        return { data: result, subject: `${path}/batches/${result.id}`, changes }
      },
  ),

  post(
    `${path}/batches/:id/undo`,
    {
      ...consoleRoute,
      operationId: 'undoMappingBatch',
      tag,
      role,
      status: 200,
      summary: 'Undo the next fixes of a batch',
      params: batchParams,
      body: Type.Object(
        {
          after: Type.Optional(Text('The last fix of the previous part.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44', 100)),
        },
        { $id: 'MappingBatchUndo', additionalProperties: false },
      ),
    },
    ({ service, params: { id }, body: { after } }) =>
      async tx => {
        if (!(await batchExists(tx, service, id))) throw notFound('batch')
        const { result, changes } = await undoBatch(tx, service, id, after)
        return { data: result, subject: `${path}/batches/${id}`, changes }
      },
  ),
]

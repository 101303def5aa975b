import {
  issueStates,
  MappingFix,
  MappingFixInput,
  MappingIssue,
  MappingStatus,
  mappedKinds,
} from '../../domain/mappings/mapping-check.ts'
import { OneOf } from '../../domain/values/fields.ts'
import { ApiError, notFound } from '../../errors/api-error.ts'
import { EmptyBody } from '../../http/body/body.ts'
import { get, list, post } from '../../http/routing/route-definitions.ts'
import { Type } from '../../schemas/schemas.ts'
import {
  areSame,
  buildFields,
  isMappedTo,
  listMappingChanges,
  pickFields,
} from '../../store/mappings/change-mapping.ts'
import { lockFix, readFixPage, recordFix, recordUndo } from '../../store/mappings/fixes.ts'
import { readIssuePage, readMappingStatus } from '../../store/mappings/issues.ts'
import { lockMapping } from '../../store/mappings/mappings.ts'
import { requestMappingCheck } from '../../store/mappings/platform-items.ts'
import { buildPath, changeMapping, names } from './change-mapping.ts'

const [tag, role] = ['Mappings', 'admin'] as const

/** The mapping check: compares the mappings with the imported platform files, lists issues and applies fixes. */
export const mappingCheck = [
  get(
    '/mappings/check',
    {
      operationId: 'getMappingStatus',
      tag,
      role,
      summary: 'Get mapping status',
      description:
        'For each kind: the number of records per state, when they were checked, and the progress of a running check. Tillbridge checks all mappings after an import of a platform file (`ecommerce-locations`, `ecommerce-variants`, `ecommerce-customers`) and every 6 hours after that. A mapping that a PUT or a fix changes is checked at once.',
      response: Type.Array(MappingStatus),
    },
    ({ db, service }) => readMappingStatus(db, service),
  ),

  post(
    '/mappings/check',
    {
      operationId: 'startMappingCheck',
      tag,
      role,
      status: 202,
      summary: 'Start a mapping check',
      description: 'The check starts when a worker is free. `GET /mappings/check` returns its progress.',
      body: EmptyBody,
      response: Type.Array(MappingStatus),
    },
    ({ service }) =>
      async tx => {
        await requestMappingCheck(tx, service)
        return { ...(await readMappingStatus(tx, service)), subject: '/mappings/check' }
      },
  ),

  ...mappedKinds.map(kind => {
    const { name, noun } = names[kind]
    return list(
      `/mappings/issues/${kind}`,
      {
        operationId: `list${name}MappingIssues`,
        tag,
        role,
        summary: `List ${noun} mapping issues`,
        description:
          'Problems first, then by units sold in 90 days, then by units in stock. Matched records are included: filter with `state`.',
        query: Type.Object({ state: Type.Optional(OneOf('Only this state.', issueStates)) }),
        item: MappingIssue,
      },
      ({ db, service, query }, page) => readIssuePage(db, service, kind, query.state, page),
    )
  }),

  list(
    '/mappings/fixes',
    {
      operationId: 'listMappingFixes',
      tag,
      role,
      summary: 'List mapping fixes',
      description: 'The fixes of the last 90 days, newest first.',
      item: MappingFix,
    },
    ({ db, service }, page) => readFixPage(db, service, page),
  ),

  post(
    '/mappings/fixes',
    {
      operationId: 'applyMappingFix',
      tag,
      role,
      summary: 'Apply a mapping fix',
      description:
        'Maps a record like `PUT /mappings/…`, so that the change can be undone. For a customer, it sets the legacy form. The admin form is kept only if it ends with the same identifier.',
      body: MappingFixInput,
      response: MappingFix,
      errors: ['not_found', 'mapping_changed', 'sku_taken'],
      generated: ['id'],
    },
    ({ service, body: { kind, id, from, to }, username, requestId }) =>
      async tx => {
        const locked = await lockMapping(tx, service, kind, id)
        if (!locked) throw notFound(names[kind].noun)
        const before = pickFields(kind, locked.record)
        const subject = buildPath(kind, id)
        if (from !== undefined && !isMappedTo(id, before, from)) throw createMappingChanged(subject)
        const change = buildFields(kind, before, to)
        const after = pickFields(kind, await changeMapping(tx, service, kind, { id, before: locked.record, change }))
        const fix = await recordFix(tx, service, { kind, recordId: id, before, after, username, requestId })
        if (!fix) throw new Error('insert into mapping_fix returned no row')
        const changes = listMappingChanges(kind, before, after)
        return { record: fix.record, subject, ...(changes && { changes }) }
      },
  ),

  post(
    '/mappings/fixes/:id/undo',
    {
      operationId: 'undoMappingFix',
      tag,
      role,
      status: 200,
      summary: 'Undo a mapping fix',
      description:
        'Restores the previous mapping, unless the mapping has changed since the fix. Undoing a fix twice changes nothing.',
      params: { id: { description: 'The ID of the fix.', example: '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44' } },
      body: EmptyBody,
      response: MappingFix,
      errors: ['mapping_changed', 'sku_taken'],
    },
    ({ service, params: { id: fixId } }) =>
      async tx => {
        const fix = await lockFix(tx, service, fixId)
        if (!fix) throw notFound('fix')
        const { kind, recordId, before, after, isUndone, record } = fix
        const subject = buildPath(kind, recordId)
        if (isUndone) return { record, subject }
        const locked = await lockMapping(tx, service, kind, recordId)
        if (!locked) throw notFound('record')
        const current = pickFields(kind, locked.record)
        if (!areSame(kind, current, after)) throw createMappingChanged(subject)
        await changeMapping(tx, service, kind, { id: recordId, before: locked.record, change: before })
        const changes = listMappingChanges(kind, after, before)
        return {
          record: (await recordUndo(tx, service, fixId))?.record ?? record,
          subject,
          ...(changes && { changes }),
        }
      },
  ),
]

const createMappingChanged = (subject: string) =>
  new ApiError('mapping_changed', `${subject} has changed since you read it.`)

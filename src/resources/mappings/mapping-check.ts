import {
  findingStates,
  MappingFinding,
  MappingFix,
  MappingFixInput,
  MappingHealth,
  mappedKinds,
} from '../../domain/mappings/mapping-check.ts'
import { Words } from '../../domain/values/fields.ts'
import { ApiError, notFound } from '../../errors/api-error.ts'
import { NoBody } from '../../http/body/body.ts'
import type { Api } from '../../http/routing/api.ts'
import { Type } from '../../schemas/schemas.ts'
import { fixPage, heldFix, noteFix, noteUndone } from '../../store/mappings/fixes.ts'
import { findingPage, mappingHealth } from '../../store/mappings/issues.ts'
import { heldMapping } from '../../store/mappings/mappings.ts'
import { askForJudgement } from '../../store/mappings/platform-items.ts'
import { areSame, changeMapping, fieldsIn, fieldsTo, isMappedTo, names, pathOf } from './change-mapping.ts'

const [tag, role] = ['Mappings', 'admin'] as const

/** The mapping doctor: what is wrong between what is here and what the e-commerce platform has, and its mending. */
export function mappingDoctor(api: Api) {
  api.get(
    '/mappings/doctor',
    {
      operationId: 'checkMappings',
      tag,
      role,
      summary: 'Get mapping status',
      description:
        'Judged when a file of the e-commerce platform has come (`ecommerce-locations`, `ecommerce-variants`, `ecommerce-customers`), every six hours from then on, and one that `PUT /mappings/…` or a fix changes at once.',
      answer: Type.Array(MappingHealth),
    },
    ({ db, service }) => mappingHealth(db, service),
  )

  api.post(
    '/mappings/doctor/run',
    {
      operationId: 'runMappingDoctor',
      tag,
      role,
      status: 202,
      summary: 'Start a mapping check',
      description: 'As soon as a worker has time. `GET /mappings/doctor` tells when it is done.',
      body: NoBody,
      answer: Type.Array(MappingHealth),
    },
    ({ service }) =>
      async tx => {
        await askForJudgement(tx, service)
        return { ...(await mappingHealth(tx, service)), subject: '/mappings/doctor' }
      },
  )

  for (const kind of mappedKinds) {
    const { name, one } = names[kind]
    api.list(
      `/mappings/doctor/${kind}`,
      {
        operationId: `list${name}Findings`,
        tag,
        role,
        summary: `List ${one} mapping issues`,
        description:
          'The worst first: what is not well before what is, then by what was sold of it in 90 days, then by what is in stock. `unclaimed` is what only the e-commerce platform has.',
        query: Type.Object({ state: Type.Optional(Words('Only what is in this state.', findingStates)) }),
        item: MappingFinding,
      },
      ({ db, service, query }, asked) => findingPage(db, service, kind, query.state, asked),
    )
  }

  api.list(
    '/mappings/doctor/fixes',
    {
      operationId: 'listMappingFixes',
      tag,
      role,
      summary: 'List mapping fixes',
      description: 'Of the last 90 days.',
      item: MappingFix,
    },
    ({ db, service }, asked) => fixPage(db, service, asked),
  )

  api.post(
    '/mappings/doctor/fixes',
    {
      operationId: 'createMappingFix',
      tag,
      role,
      summary: 'Apply a mapping fix',
      description:
        'As `PUT /mappings/…` does. Of a customer the legacy form is set; the admin form stays where it ends with the same, and is taken away elsewhere. With `from` only where it is mapped to that.',
      body: MappingFixInput,
      answer: MappingFix,
      errors: ['not_found', 'mapping_changed', 'sku_taken'],
      made: ['fixId'],
    },
    ({ service, body: { kind, id, from, to }, username, requestId }) =>
      async tx => {
        const held = await heldMapping(tx, service, kind, id)
        if (!held) throw notFound(names[kind].one)
        const before = fieldsIn(kind, held.record)
        const subject = pathOf(kind, id)
        if (from !== undefined && !isMappedTo(id, before, from)) throw changedSince(subject)
        const change = fieldsTo(kind, before, to)
        const after = fieldsIn(kind, await changeMapping(tx, service, kind, { id, before: held.record, change }))
        const fix = await noteFix(tx, service, { kind, id, before, after, username, requestId })
        if (!fix) throw new Error('an insertion returns its row')
        return { record: fix.record, subject }
      },
  )

  api.post(
    '/mappings/doctor/fixes/:id/undo',
    {
      operationId: 'undoMappingFix',
      tag,
      role,
      status: 200,
      summary: 'Undo a mapping fix',
      description: 'As long as nobody has changed it since. One that is undone stays so.',
      params: { id: { description: 'The fix.', example: '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44' } },
      body: NoBody,
      answer: MappingFix,
      errors: ['mapping_changed', 'sku_taken'],
    },
    ({ service, params: { id: fixId } }) =>
      async tx => {
        const fix = await heldFix(tx, service, fixId)
        if (!fix) throw notFound('fix')
        const { kind, id, before, after, isUndone, record } = fix
        const subject = pathOf(kind, id)
        if (isUndone) return { record, subject }
        const held = await heldMapping(tx, service, kind, id)
        if (!held) throw notFound('record')
        const now = fieldsIn(kind, held.record)
        if (!areSame(kind, now, after)) throw changedSince(subject)
        await changeMapping(tx, service, kind, { id, before: held.record, change: before })
        return { record: (await noteUndone(tx, service, fixId))?.record ?? record, subject }
      },
  )
}

const changedSince = (subject: string) =>
  new ApiError('mapping_changed', `The mapping of ${subject} has changed since.`)

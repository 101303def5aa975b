import { createNoDataError } from '../http/errors.ts'
import { parseInteger } from '../http/request.ts'
import { respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import type { ReferenceType } from '../shop/records.ts'
import type { World } from '../world/world.ts'
import { array, el, fields } from '../xml/element.ts'

const buildReferenceType = ({ id, code, name }: ReferenceType) =>
  el('ReferenceType', fields({ Id: id, Code: code, Name: name }))

export const listReferenceTypes: Handler = (_, { shop }) =>
  respondOk(el('ReferenceTypes', [...shop.referenceTypes.values()].map(buildReferenceType)))

function requireReferenceType(world: World, text: string | undefined): ReferenceType {
  const type = world.shop.referenceTypes.get(parseInteger(text) ?? 0)
  if (!type) throw createNoDataError()
  return type
}

export const getReferenceType: Handler = ({ parameters }, world) =>
  respondOk(el('ReferenceTypes', [buildReferenceType(requireReferenceType(world, parameters[0]))]))

/** Lists the references of a type, or one of them. The root element is spelt with a small b. */
export const listReferences: Handler = ({ parameters }, world) => {
  const type = requireReferenceType(world, parameters[0])
  const requestedId = parameters[1]
  const rows = [...type.references.values()].filter(
    ({ id }) => requestedId === undefined || id === parseInteger(requestedId),
  )
  if (requestedId !== undefined && !rows.length) throw createNoDataError()
  return respondOk(
    el('ReferencesbyType', [
      ...fields({ ReferenceTypeId: type.id, ReferenceTypeCode: type.code, ReferenceTypeName: type.name }),
      array(
        'References',
        rows.map(({ id, code, name }) =>
          el('Reference', fields({ ReferenceTypeId: type.id, Id: id, Code: code, Name: name })),
        ),
      ),
    ]),
  )
}

/** Creates a handler that lists the reference types of a kind of record. */
export const createTypesHandler =
  (kind: ReferenceType['recordType'], root: string, object: { id: number; name: string }): Handler =>
  (_, { shop }) =>
    respondOk(
      el(root, [
        ...fields({ Id: object.id, Name: object.name }),
        array(
          'ReferenceTypes',
          [...shop.referenceTypes.values()]
            .filter(type => type.recordType === kind)
            .map(({ id, code, name }, i) =>
              el('Reference', fields({ Sequence: i + 1, ReferenceTypeId: id, Code: code, Name: name })),
            ),
        ),
      ]),
    )

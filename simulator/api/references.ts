import { ok } from '../http/answers.ts'
import { nothing } from '../http/errors.ts'
import { whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import type { ReferenceType } from '../shop/records.ts'
import type { World } from '../world/world.ts'
import { array, el, fields } from '../xml/element.ts'

const typeElement = ({ id, code, name }: ReferenceType) =>
  el('ReferenceType', fields({ Id: id, Code: code, Name: name }))

export const allReferenceTypes: Handler = (_, { shop }) =>
  ok(el('ReferenceTypes', [...shop.referenceTypes.values()].map(typeElement)))

function typeOf(world: World, text: string | undefined): ReferenceType {
  const type = world.shop.referenceTypes.get(whole(text) ?? 0)
  if (!type) throw nothing()
  return type
}

export const oneReferenceType: Handler = ({ parameters }, world) =>
  ok(el('ReferenceTypes', [typeElement(typeOf(world, parameters[0]))]))

/** The references of a type, or one of them. The root is written with a small b. */
export const referencesByType: Handler = ({ parameters }, world) => {
  const type = typeOf(world, parameters[0])
  const requested = parameters[1]
  const rows = [...type.references.values()].filter(({ id }) => requested === undefined || id === whole(requested))
  if (requested !== undefined && !rows.length) throw nothing()
  return ok(
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

/** Lists the reference types of a kind of record. */
export const typesOf =
  (kind: ReferenceType['of'], root: string, object: { id: number; name: string }): Handler =>
  (_, { shop }) =>
    ok(
      el(root, [
        ...fields({ Id: object.id, Name: object.name }),
        array(
          'ReferenceTypes',
          [...shop.referenceTypes.values()]
            .filter(type => type.of === kind)
            .map(({ id, code, name }, i) =>
              el('Reference', fields({ Sequence: i + 1, ReferenceTypeId: id, Code: code, Name: name })),
            ),
        ),
      ]),
    )

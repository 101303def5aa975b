import type { Role } from '../../domain/accounts.ts'
import { Flag, OneOf } from '../../domain/values/fields.ts'
import { type Static, Type } from '../../schemas/schemas.ts'
import { type Tag, tagDescriptions } from '../routing/operation.ts'

type Node = Record<string, unknown>

interface DocumentOperation {
  tags: string[]
  'x-required-role'?: Role
}

/** The parts of the document that this module reads. */
interface OpenApiDocument {
  info: { description: string }
  tags: { name: string }[]
  paths: Record<string, Record<string, DocumentOperation>>
  webhooks: Record<string, Record<string, DocumentOperation>>
  components: Record<string, Record<string, unknown>>
}

/** The query of `GET /openapi.json`: a part of the document, and whether it has samples. */
export const sliceQuery = Type.Object({
  view: Type.Optional(
    OneOf('`shop`: the operations that a web shop needs. `admin`: the operations to run a service.', ['shop', 'admin']),
  ),
  tag: Type.Optional(OneOf('Only the operations of one tag.', Object.keys(tagDescriptions) as Tag[])),
  samples: Type.Optional(Flag('Add code samples (`x-codeSamples`) and examples of errors.')),
})

/** Returns the part of a document: its operations, and the components that they use. */
export function sliceDocument(document: object, { view, tag }: Static<typeof sliceQuery>): object {
  const { info, tags, paths, webhooks, components, ...rest } = document as OpenApiDocument
  const isIncluded = (operation: DocumentOperation) =>
    (!view || isForAdmins(operation) === (view === 'admin')) && (!tag || operation.tags.includes(tag))
  const filter = (all: OpenApiDocument['paths']) =>
    Object.fromEntries(
      Object.entries(all).flatMap(([name, methods]) => {
        const included = Object.entries(methods).filter(([, operation]) => isIncluded(operation))
        return included.length ? [[name, Object.fromEntries(included)]] : []
      }),
    )
  const [slicedPaths, slicedWebhooks] = [filter(paths), filter(webhooks)]
  const operations = [slicedPaths, slicedWebhooks].flatMap(all =>
    Object.values(all).flatMap(members => Object.values(members)),
  )
  const usedTags = new Set(operations.flatMap(operation => operation.tags))
  const used = collectReferences([slicedPaths, slicedWebhooks], components)
  return {
    ...rest,
    info: tag ? { ...info, description: tagNote } : info,
    tags: tags.filter(({ name }) => usedTags.has(name)),
    paths: slicedPaths,
    ...(Object.keys(slicedWebhooks).length && { webhooks: slicedWebhooks }),
    components: Object.fromEntries(
      Object.entries(components).map(([kind, all]) => [
        kind,
        kind === 'securitySchemes'
          ? all
          : Object.fromEntries(Object.entries(all).filter(([name]) => used.has(`#/components/${kind}/${name}`))),
      ]),
    ),
  }
}

/** Tags that people use to run a service. A shop's key can read some of them, but doesn't need them. */
const operatorTags = ['Fulfilment', 'Syncs', 'Imports', 'Alerts', 'Stats', 'Health and documentation']

const isForAdmins = ({ tags, 'x-required-role': role }: DocumentOperation) =>
  role === 'admin' || tags.some(tag => operatorTags.includes(tag))

const tagNote = 'The operations of one tag. The introduction is in the complete document, `GET /openapi.json`.'

/** Returns the references of a value, and of the components that it refers to. */
function collectReferences(value: unknown, components: OpenApiDocument['components'], references = new Set<string>()) {
  if (value === null || typeof value !== 'object') return references
  const { $ref } = value as Node
  if (typeof $ref === 'string' && !references.has($ref)) {
    references.add($ref)
    const [kind = '', name = ''] = $ref.split('/').slice(2)
    collectReferences(components[kind]?.[name], components, references)
  }
  for (const member of Object.values(value)) collectReferences(member, components, references)
  return references
}

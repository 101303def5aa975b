import type { Role } from '../../domain/accounts.ts'
import { Flag, OneOf } from '../../domain/values/fields.ts'
import { type Static, Type } from '../../schemas/schemas.ts'
import { type Tag, tagDescriptions } from '../routing/operation.ts'
import { toPostmanDocument } from './postman.ts'

type Node = Record<string, unknown>

interface DocumentOperation {
  tags: string[]
  responses: Record<string, Reference & { content?: Record<string, { schema: Reference }> }>
  'x-required-role'?: Role
}

interface Reference {
  $ref?: string
}

/** A schema of a response: an object with `data`, which is a record or an array of records. */
interface ResponseSchema {
  properties?: { data?: Reference & { items?: Reference } }
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
    OneOf(
      '`shop`: the operations that a web shop needs. `admin`: the operations to run a service. `postman`: for an import into Postman, without optional parameters.',
      ['shop', 'admin', 'postman'],
    ),
  ),
  tag: Type.Optional(OneOf('Only the operations of one tag.', Object.keys(tagDescriptions) as Tag[])),
  samples: Type.Optional(
    Flag('Add code samples (`x-codeSamples`) and examples of errors. Complete a slice of one tag.'),
  ),
})

/** Returns the part of a document: its operations, and the components that they use. The part of a tag is short, unless it has samples. */
export function sliceDocument(document: object, { view, tag, samples }: Static<typeof sliceQuery>): object {
  const isForPostman = view === 'postman'
  const complete = (isForPostman ? toPostmanDocument(document) : document) as OpenApiDocument
  const { info, tags, paths, webhooks, components, ...rest } =
    tag && !samples && !isForPostman ? shorten(complete, tag) : complete
  const isIncluded = (operation: DocumentOperation) =>
    (!view || isForPostman || isForAdmins(operation) === (view === 'admin')) && (!tag || operation.tags.includes(tag))
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

/** True if an operation is part of the admin view. */
export const isForAdmins = ({ tags, 'x-required-role': role }: Pick<DocumentOperation, 'tags' | 'x-required-role'>) =>
  role === 'admin' || tags.some(tag => operatorTags.includes(tag))

const tagNote =
  'The operations of one tag. `GET /openapi.json` has the introduction, examples and the response of each error status. `x-error-codes` lists errors, which `GET /errors/{code}.md` explains.'

/**
 * Returns the document for agents, whose context is small: without examples, common headers and a response for each error status. A record that
 * only operations of other tags return has no fields.
 */
function shorten(document: OpenApiDocument, tag: Tag): OpenApiDocument {
  const { 'x-response-headers': _, ...rest } = omitExamples(document) as OpenApiDocument & Node
  const { paths, components } = rest
  const recordTags = mapRecordTags(rest)
  const shortenSchema = ([name, schema]: [string, unknown]) => {
    const [owner, ...otherTags] = recordTags.get(`#/components/schemas/${name}`) ?? [tag]
    const isForeign = owner !== tag && !otherTags.includes(tag)
    return [name, isForeign ? { type: 'object', description: `Its fields are in \`?tag=${owner}\`.` } : schema]
  }
  return {
    ...rest,
    paths: mapOperations(paths, operation => ({ ...operation, responses: shortenResponses(operation) })),
    components: {
      ...components,
      responses: { Error: { ...(components.responses?.Error as Node), description: 'An error.' } },
      schemas: Object.fromEntries(Object.entries(components.schemas ?? {}).map(shortenSchema)),
    },
  }
}

const shortenResponses = ({ responses }: DocumentOperation) => ({
  ...Object.fromEntries(Object.entries(responses).filter(([status]) => status.startsWith('2'))),
  default: { $ref: '#/components/responses/Error' },
})

const mapOperations = (
  paths: OpenApiDocument['paths'],
  map: (operation: DocumentOperation) => DocumentOperation,
): OpenApiDocument['paths'] =>
  Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, map(operation)])),
    ]),
  )

/** Returns the tags of the operations that return a schema as their record, by the reference of the schema. */
function mapRecordTags({ paths, components }: OpenApiDocument) {
  const tags = new Map<string, string[]>()
  for (const operation of Object.values(paths).flatMap(methods => Object.values(methods)))
    for (const { content } of Object.values(operation.responses)) {
      const name = content?.['application/json']?.schema.$ref?.split('/').at(-1) ?? ''
      const { data } = (components.schemas?.[name] as ResponseSchema | undefined)?.properties ?? {}
      const record = data?.$ref ?? data?.items?.$ref
      if (record !== undefined) tags.set(record, [...(tags.get(record) ?? []), ...operation.tags])
    }
  return tags
}

/** Returns a value of the document without its examples. A property can have the name of a keyword. */
function omitExamples(value: unknown, key?: string): unknown {
  if (Array.isArray(value)) return value.map(item => omitExamples(item))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => key === 'properties' || (name !== 'example' && name !== 'examples'))
      .map(([name, member]) => [name, omitExamples(member, name)]),
  )
}

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

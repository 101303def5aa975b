import { readFileSync } from 'node:fs'
import {
  buildASTSchema,
  type DefinitionNode,
  type DocumentNode,
  defaultFieldResolver,
  type ExecutionResult,
  executeSync,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  parse,
  validate,
} from 'graphql'
import { listSelectedFields, predictCost, type Variables } from './cost.ts'
import { rootFields } from './root.ts'
import type { RequestContext } from './world.ts'

interface Version {
  schema: GraphQLSchema
  /** The scopes of a type or a field (`Type.field`). The app needs one of them. */
  scopes: Readonly<Record<string, string[]>>
}

const versions = new Map<string, Version>()
/** The version whose file is complete. The definitions of an older version replace those of the newest one. */
const newestVersion = '2026-10'

const readSchemaFile = (name: string) => readFileSync(new URL(`schema/${name}`, import.meta.url), 'utf8')
const readDefinitions = (version: string) => parse(readSchemaFile(`${version}.graphql`)).definitions
const getName = (node: DefinitionNode) => ('name' in node ? node.name?.value : undefined)

/** Opens the schema of a version, and caches it. */
export function openVersion(version: string): Version {
  const cached = versions.get(version)
  if (cached) return cached
  const definitions = new Map([newestVersion, version].flatMap(readDefinitions).map(node => [getName(node), node]))
  const schema = buildASTSchema({ kind: Kind.DOCUMENT, definitions: [...definitions.values()] })
  const loaded = { schema, scopes: JSON.parse(readSchemaFile('scopes.json')) }
  versions.set(version, loaded)
  return loaded
}

export interface GraphqlRequest {
  query: string
  variables: Variables
}

/** A valid request with its cost, or the errors of an invalid one. */
export type CheckedRequest = { document: DocumentNode; cost: number } | { errors: readonly GraphQLFormattedError[] }

/** Parses a request, validates it against the schema of a version, and predicts its cost. */
export function checkRequest(version: string, { query, variables }: GraphqlRequest): CheckedRequest {
  const { schema } = openVersion(version)
  let document: DocumentNode
  try {
    document = parse(query)
  } catch (error) {
    return { errors: [{ message: error instanceof Error ? error.message : String(error) }] }
  }
  const errors = validate(schema, document)
  if (errors.length) return { errors: errors.map(error => error.toJSON()) }
  return { document, cost: predictCost(schema, document, variables) }
}

/** Returns the name of a document's operation, which the ledger and faults use. */
export const getOperationName = (document: DocumentNode) => {
  const operation = document.definitions.find(definition => definition.kind === Kind.OPERATION_DEFINITION)
  return operation?.name?.value ?? ''
}

/** Returns the errors of fields whose scopes the app doesn't have. */
function findDenied({ schema, scopes }: Version, document: DocumentNode, granted: readonly string[]) {
  const denied = new Map<string, GraphQLError>()
  for (const { field, keys } of listSelectedFields(schema, document))
    for (const key of keys) {
      const needed = scopes[key]
      if (
        !needed ||
        needed.some(handle => granted.includes(handle) || granted.includes(handle.replace(/^read_/, 'write_')))
      )
        continue
      const scope = needed[0] ?? ''
      if (denied.has(scope)) continue
      const requiredAccess = `\`${scope}\` access scope.`
      const message = `Access denied for ${field} field. Required access: ${requiredAccess}`
      const documentation = 'https://shopify.dev/api/usage/access-scopes'
      denied.set(
        scope,
        new GraphQLError(message, { extensions: { code: 'ACCESS_DENIED', documentation, requiredAccess } }),
      )
    }
  return [...denied.values()]
}

const rootTypes = new Set(['QueryRoot', 'Mutation'])

export function executeRequest(document: DocumentNode, variables: Variables, context: RequestContext): ExecutionResult {
  const version = openVersion(context.version)
  const denied = findDenied(version, document, context.world.settings.scopes)
  if (denied.length) return { data: null, errors: denied }
  return executeSync({
    schema: version.schema,
    document,
    rootValue: rootFields,
    contextValue: context,
    variableValues: variables,
    fieldResolver(source, args, contextValue, info) {
      const value = defaultFieldResolver(source, args, contextValue, info)
      // A missing field must not look like an empty one.
      if (value === undefined && (rootTypes.has(info.parentType.name) || !(info.fieldName in source)))
        throw new GraphQLError(`The simulator has no ${info.parentType.name}.${info.fieldName}.`)
      return value
    },
  })
}

/** Returns the points of a result: as predicted, but at most one for each object that it contains. */
export function computeActualCost(predicted: number, data: unknown): number {
  let objects = 0
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (!Array.isArray(value)) objects++
    for (const part of Object.values(value)) visit(part)
  }
  visit(data)
  return Math.min(predicted, objects)
}

type Row = Record<string, unknown>

/** Writes the lines of a bulk query: each node is an object, and nested nodes follow it with `__parentId`. */
export function toBulkLines(data: unknown): { lines: string[]; roots: number } {
  const lines: string[] = []
  let rootCount = 0
  const isConnection = (value: unknown): value is { edges: { node: Row }[] } =>
    typeof value === 'object' && value !== null && Array.isArray((value as { edges?: unknown }).edges)
  const write = (node: Row, parentId: unknown) => {
    const nested = Object.entries(node).filter(([, value]) => isConnection(value))
    const ownFields = Object.fromEntries(Object.entries(node).filter(([, value]) => !isConnection(value)))
    lines.push(JSON.stringify(parentId === undefined ? ownFields : { ...ownFields, __parentId: parentId }))
    for (const [, connection] of nested)
      for (const { node: child } of (connection as { edges: { node: Row }[] }).edges) write(child, node.id)
  }
  for (const connection of Object.values((data ?? {}) as Row))
    if (isConnection(connection))
      for (const { node } of connection.edges) {
        rootCount++
        write(node, undefined)
      }
  return { lines, roots: rootCount }
}

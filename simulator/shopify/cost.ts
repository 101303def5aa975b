import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isLeafType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  TypeInfo,
  type ValueNode,
  visit,
  visitWithTypeInfo,
} from 'graphql'

/** Points of a mutation, and of a field that counts records. */
const mutationPoints = 10
const free = new Set(['MoneyBag', 'MoneyV2', 'PageInfo'])

export type Variables = Readonly<Record<string, unknown>>

interface CostContext {
  schema: GraphQLSchema
  variables: Variables
  fragments: ReadonlyMap<string, FragmentDefinitionNode>
}

/**
 * Returns the points that a request must reserve, by a rule that was derived from recorded requests. An object or a list costs 1, and money
 * costs 0. A mutation costs 10 and the objects below those that it returns. A connection costs
 * 2 + max(1, ⌊2 · ln(first)⌋) × (1 + the objects of a node).
 */
export function predictCost(schema: GraphQLSchema, document: DocumentNode, variables: Variables): number {
  const operation = document.definitions.find(definition => definition.kind === Kind.OPERATION_DEFINITION)
  if (!operation) return 0
  const fragments = new Map(
    document.definitions.flatMap(definition =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  )
  const context: CostContext = { schema, variables, fragments }
  const root = operation.operation === 'mutation' ? schema.getMutationType() : schema.getQueryType()
  if (!root) return 0
  if (operation.operation === 'mutation') return computeMutationCost(operation, root, context)
  return computeSelectionCost(operation.selectionSet, root, context)
}

function computeMutationCost(
  operation: OperationDefinitionNode,
  root: GraphQLCompositeType,
  context: CostContext,
): number {
  let cost = 0
  for (const { field, type } of listFields(operation.selectionSet, root, context)) {
    cost += mutationPoints
    if (!field.selectionSet || !isCompositeType(type)) continue
    for (const result of listFields(field.selectionSet, type, context))
      if (result.field.selectionSet && isCompositeType(result.type))
        cost += computeSelectionCost(result.field.selectionSet, result.type, context)
  }
  return cost
}

/** Yields the fields of a selection and of its fragments, with their types. */
function* listFields(
  set: SelectionSetNode,
  parent: GraphQLCompositeType,
  context: CostContext,
): Generator<{ field: FieldNode; type: ReturnType<typeof getNamedType>; isList: boolean }> {
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) {
      const definition = 'getFields' in parent ? parent.getFields()[selection.name.value] : undefined
      if (!definition) continue
      const isList = isListType(getNullableType(definition.type))
      yield { field: selection, type: getNamedType(definition.type), isList }
    } else {
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : context.fragments.get(selection.name.value)
      const name = fragment?.typeCondition?.name.value
      const type = name === undefined ? parent : context.schema.getType(name)
      if (fragment && isCompositeType(type)) yield* listFields(fragment.selectionSet, type, context)
    }
  }
}

function computeSelectionCost(set: SelectionSetNode, parent: GraphQLCompositeType, context: CostContext): number {
  let cost = 0
  for (const { field, type, isList } of listFields(set, parent, context)) {
    if (field.name.value === 'nodes' && isList && field.arguments?.length) {
      const ids = readArgument(field, 'ids', context)
      const childCost =
        field.selectionSet && isCompositeType(type) ? computeSelectionCost(field.selectionSet, type, context) : 0
      cost += (Array.isArray(ids) ? ids.length : 1) * (1 + childCost)
    } else if (type?.name.endsWith('Connection'))
      cost += computeConnectionCost(field, type as GraphQLCompositeType, context)
    else if (type?.name === 'Count') cost += mutationPoints
    else if (isLeafType(type)) continue
    else if (type && !free.has(type.name)) {
      cost += 1
      if (field.selectionSet && isCompositeType(type)) cost += computeSelectionCost(field.selectionSet, type, context)
    }
  }
  return cost
}

const computeConnectionPoints = (records: number, objects: number) =>
  records === 0 ? 2 : 2 + Math.max(1, Math.floor(2 * Math.log(records))) * (1 + objects)

function computeConnectionCost(field: FieldNode, type: GraphQLCompositeType, context: CostContext): number {
  const size = Number(readArgument(field, 'first', context) ?? readArgument(field, 'last', context) ?? 1)
  let objects = 0
  if (field.selectionSet)
    for (const part of listFields(field.selectionSet, type, context)) {
      if (!part.field.selectionSet || !isObjectType(part.type)) continue
      if (part.field.name.value === 'nodes')
        objects += computeSelectionCost(part.field.selectionSet, part.type, context)
      if (part.field.name.value === 'edges')
        for (const { field: node, type: nodeType } of listFields(part.field.selectionSet, part.type, context))
          if (node.selectionSet && isObjectType(nodeType))
            objects += computeSelectionCost(node.selectionSet, nodeType, context)
    }
  return computeConnectionPoints(size, objects)
}

function readArgument(field: FieldNode, name: string, { variables }: CostContext): unknown {
  const value = field.arguments?.find(argument => argument.name.value === name)?.value
  return value && toPlainValue(value, variables)
}

function toPlainValue(value: ValueNode, variables: Variables): unknown {
  if (value.kind === Kind.VARIABLE) return variables[value.name.value]
  if (value.kind === Kind.INT) return Number(value.value)
  if (value.kind === Kind.LIST) return value.values.map(item => toPlainValue(item, variables))
  return 'value' in value ? value.value : undefined
}

/** Returns the fields that a document selects, in order, each with `Type.field` and the type of its value or of its list's nodes. */
export function listSelectedFields(schema: GraphQLSchema, document: DocumentNode): { field: string; keys: string[] }[] {
  const info = new TypeInfo(schema)
  const selected: { field: string; keys: string[] }[] = []
  visit(
    document,
    visitWithTypeInfo(info, {
      Field(node) {
        const parent = info.getParentType()?.name ?? ''
        const type = getNamedType(info.getType())?.name.replace(/Connection$/, '') ?? ''
        selected.push({ field: node.name.value, keys: [`${parent}.${node.name.value}`, type] })
      },
    }),
  )
  return selected
}

import { globSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { buildDocuments } from '../documents/write.ts'
import { groups, omittedOperations } from './groups.ts'
import { analyzeOperation, type OperationDefinition, renderMethod, renderSignature } from './operations.ts'
import {
  collectSchemas,
  type Direction,
  getRefName,
  type Node,
  renderDocstring,
  renderMembers,
  renderType,
} from './types.ts'

const notice = '// Generated from the OpenAPI document by `npm run docs`.\n'
const toSourceUrl = (name: string) => new URL(`../../client/src/${name}`, import.meta.url)
/** Schemas that errors and pages use. */
const commonSchemas = ['Problem', 'ListMeta', 'Warning']

/** Returns the generated files of the client, by their names below `client/src`. */
export async function buildClientFiles(): Promise<Record<string, string>> {
  const { paths, components, tags }: Node = JSON.parse((await buildDocuments())['openapi.json'] ?? '')
  const operations = listOperations(paths)
  const groupUses = Object.entries(groups).map(([group, names]) => {
    const groupOperations = Object.entries(names).map(([name, id]) => [name, getOperation(operations, id)] as const)
    const sentSchemas = new Set<string>()
    const readSchemas = new Set<string>()
    for (const [, operation] of groupOperations) {
      const { query, body, data } = analyzeOperation(operation, components)
      collectSchemas([query, body], components.schemas, sentSchemas)
      collectSchemas(data, components.schemas, readSchemas)
    }
    return { group, groupOperations, sentSchemas, readSchemas }
  })
  const findUses = (schemaName: string) =>
    groupUses.filter(({ sentSchemas, readSchemas }) => sentSchemas.has(schemaName) || readSchemas.has(schemaName))
  const general = [
    ...collectSchemas(
      commonSchemas.map($ref => ({ $ref: `/${$ref}` })),
      components.schemas,
    ),
  ]
  /** Returns the last group that uses a schema, so that files import each other in one direction. */
  const findHomeGroup = (schemaName: string) =>
    general.includes(schemaName) ? undefined : findUses(schemaName).at(-1)?.group
  const renderSchemas = (names: Iterable<string>, direction: Direction) =>
    [...names].map(name => renderSchema(name, components.schemas[name], direction)).join('\n')

  const files = groupUses.flatMap(({ group, groupOperations, sentSchemas, readSchemas }) => {
    const selectOwn = (names: Iterable<string>) => [...names].filter(name => findHomeGroup(name) === group)
    const schemas = [
      renderSchemas(selectOwn(sentSchemas), 'sent'),
      renderSchemas(selectOwn(readSchemas.difference(sentSchemas)), 'read'),
    ]
      .filter(Boolean)
      .join('\n')
    const homes = Map.groupBy([...sentSchemas, ...readSchemas], name => findHomeGroup(name) ?? 'general')
    const api = `${toPascalCase(group)}Api`
    const methods = groupOperations.map(([name, operation]) => renderSignature(name, operation, components)).join('')
    const implementations = groupOperations
      .map(([name, operation]) => renderMethod(name, operation, components))
      .join('')
    const findTag = (matches: (name: string) => boolean) => tags.find(({ name }: Node) => matches(name))
    const { description } =
      findTag(name => name.toLowerCase() === group) ??
      findTag(name => name === groupOperations[0]?.[1].operation.tags[0])
    const calls = `${renderDocstring(description)}export interface ${api} {\n${methods}}

export const ${group} = (call: Calls): ${api} => ({\n${implementations}})\n`
    const foreign = new Map([...homes].filter(([home]) => home !== group))
    return [
      [
        `api/${group}.ts`,
        `${notice}${renderCallImports(calls)}${renderSchemaImports(calls, '../shapes', homes)}\n${calls}`,
      ],
      ...(schemas
        ? [[`shapes/${group}.ts`, `${notice}${renderSchemaImports(schemas, '.', foreign)}\n${schemas}`]]
        : []),
    ]
  })
  files.push(['shapes/general.ts', `${notice}${openType}\n${renderSchemas(general, 'read')}`])
  const list = files.flatMap(([name = '']) => (name.startsWith('shapes/') ? [name.slice('shapes/'.length)] : []))
  files.push(['shapes/index.ts', notice + list.map(name => `export type * from './${name}'\n`).join('')])
  return Object.fromEntries(files)
}

const openType = `
/** One of these values, or one that a later release adds. */
export type Open<Word extends string> = Word | (string & {})
`

function listOperations(paths: Node): Map<string, OperationDefinition> {
  const entries = Object.entries<Node>(paths).flatMap(([path, methods]) =>
    Object.entries<Node>(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const operations = new Map(
    entries.filter(({ operation }) => !operation.security).map(entry => [entry.operation.operationId, entry]),
  )
  const assigned = new Set([...omittedOperations, ...Object.values(groups).flatMap(names => Object.values(names))])
  const unassigned = [...operations.keys()].filter(id => !assigned.has(id))
  if (unassigned.length) throw new Error(`scripts/client/groups.ts has no place for ${unassigned.join(', ')}`)
  return operations
}

function getOperation(operations: Map<string, OperationDefinition>, id: string): OperationDefinition {
  const operation = operations.get(id)
  if (!operation) throw new Error(`there is no operation ${id}`)
  return operation
}

const renderSchema = (name: string, { allOf, ...schema }: Node, direction: Direction) =>
  allOf
    ? `${renderDocstring(schema.description)}export interface ${name} extends ${getRefName(allOf[0])} ${renderMembers(allOf[1], direction)}\n`
    : schema.properties
      ? `${renderDocstring(schema.description)}export interface ${name} ${renderMembers(schema, direction)}\n`
      : `${renderDocstring(schema.description)}export type ${name} = ${renderType(schema, direction)}\n`

/** Returns the import of the names that the code uses. Comments don't count. */
function renderTypeImport(text: string, names: readonly string[], file: string) {
  const code = text.replaceAll(/\/\*\*.*?\*\//gs, '')
  const usedNames = [...new Set(names)].filter(name => new RegExp(`\\b${name}\\b`).test(code)).sort()
  return usedNames.length ? `import type { ${usedNames.join(', ')} } from '${file}'\n` : ''
}

const renderCallImports = (text: string) =>
  [
    renderTypeImport(text, ['CallOptions', 'Calls', 'Paging', 'WriteOptions'], '../calls/calls.ts'),
    text.includes('segment(') ? "import { segment } from '../calls/calls.ts'\n" : '',
    renderTypeImport(text, ['Paginator'], '../calls/paginator.ts'),
  ].join('')

const renderSchemaImports = (text: string, folder: string, homes: Map<string, string[]>) =>
  [
    renderTypeImport(text, ['Open', ...(homes.get('general') ?? [])], `${folder}/general.ts`),
    ...[...homes].map(([home, names]) =>
      home === 'general' ? '' : renderTypeImport(text, names, `${folder}/${home}.ts`),
    ),
  ].join('')

const toPascalCase = (name: string) => name.slice(0, 1).toUpperCase() + name.slice(1)

if (import.meta.main) {
  const files = await buildClientFiles()
  for (const name of globSync('{api,shapes}/*', { cwd: toSourceUrl('') }))
    if (!(name in files)) await rm(toSourceUrl(name))
  for (const [name, text] of Object.entries(files)) {
    if ((await readFile(toSourceUrl(name), 'utf8').catch(() => undefined)) === text) continue
    await writeFile(toSourceUrl(name), text)
    console.log(`client/src/${name} is written.`)
  }
}

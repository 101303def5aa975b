import { globSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { buildDocuments } from '../documents/write.ts'
import { groups, leftOut } from './groups.ts'
import { type OperationDefinition, partsOf, renderMethod, renderSignature } from './operations.ts'
import { collectSchemas, documented, membersOf, type Node, nameOf, typeOf, type Way } from './types.ts'

const notice = '// Made of the operations of the API by `npm run docs`.\n'
const sourceOf = (name: string) => new URL(`../../client/src/${name}`, import.meta.url)
/** Schemas that errors and pages use. */
const always = ['Problem', 'ListMeta', 'Warning']

/** Returns the generated files of the client, by their names below `client/src`. */
export async function clientFiles(): Promise<Record<string, string>> {
  const { paths, components, tags }: Node = JSON.parse((await buildDocuments())['openapi.json'] ?? '')
  const operations = listOperations(paths)
  const perGroup = Object.entries(groups).map(([group, names]) => {
    const operationsOfGroup = Object.entries(names).map(([name, id]) => [name, of(operations, id)] as const)
    const sent = new Set<string>()
    const read = new Set<string>()
    for (const [, operation] of operationsOfGroup) {
      const { query, body, data } = partsOf(operation, components)
      collectSchemas([query, body], components.schemas, sent)
      collectSchemas(data, components.schemas, read)
    }
    return { group, operationsOfGroup, sent, read }
  })
  const usedBy = (schemaName: string) =>
    perGroup.filter(({ sent, read }) => sent.has(schemaName) || read.has(schemaName))
  const general = [
    ...collectSchemas(
      always.map($ref => ({ $ref: `/${$ref}` })),
      components.schemas,
    ),
  ]
  /** Returns the last group that uses a schema, so that files import each other in one direction. */
  const homeOf = (schemaName: string) => (general.includes(schemaName) ? undefined : usedBy(schemaName).at(-1)?.group)
  const shapesOf = (names: Iterable<string>, way: Way) =>
    [...names].map(name => shape(name, components.schemas[name], way)).join('\n')

  const files = perGroup.flatMap(({ group, operationsOfGroup, sent, read }) => {
    const own = (names: Iterable<string>) => [...names].filter(name => homeOf(name) === group)
    const schemas = [shapesOf(own(sent), 'sent'), shapesOf(own(read.difference(sent)), 'read')]
      .filter(Boolean)
      .join('\n')
    const homes = Map.groupBy([...sent, ...read], name => homeOf(name) ?? 'general')
    const api = `${pascalCase(group)}Api`
    const methods = operationsOfGroup.map(([name, operation]) => renderSignature(name, operation, components)).join('')
    const doings = operationsOfGroup.map(([name, operation]) => renderMethod(name, operation, components)).join('')
    const findTag = (matches: (name: string) => boolean) => tags.find(({ name }: Node) => matches(name))
    const { description } =
      findTag(name => name.toLowerCase() === group) ??
      findTag(name => name === operationsOfGroup[0]?.[1].operation.tags[0])
    const calls = `${documented(description)}export interface ${api} {\n${methods}}

export const ${group} = (call: Calls): ${api} => ({\n${doings}})\n`
    const foreign = new Map([...homes].filter(([home]) => home !== group))
    return [
      [`api/${group}.ts`, `${notice}${callImports(calls)}${shapeImports(calls, '../shapes', homes)}\n${calls}`],
      ...(schemas ? [[`shapes/${group}.ts`, `${notice}${shapeImports(schemas, '.', foreign)}\n${schemas}`]] : []),
    ]
  })
  files.push(['shapes/general.ts', `${notice}${open}\n${shapesOf(general, 'read')}`])
  const list = files.flatMap(([name = '']) => (name.startsWith('shapes/') ? [name.slice('shapes/'.length)] : []))
  files.push(['shapes/index.ts', notice + list.map(name => `export type * from './${name}'\n`).join('')])
  return Object.fromEntries(files)
}

const open = `
/** One of these words, or one that a later release has. */
export type Open<Word extends string> = Word | (string & {})
`

function listOperations(paths: Node): Map<string, OperationDefinition> {
  const entries = Object.entries<Node>(paths).flatMap(([path, methods]) =>
    Object.entries<Node>(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const operations = new Map(
    entries.filter(({ operation }) => !operation.security).map(entry => [entry.operation.operationId, entry]),
  )
  const assigned = new Set([...leftOut, ...Object.values(groups).flatMap(names => Object.values(names))])
  const unassigned = [...operations.keys()].filter(id => !assigned.has(id))
  if (unassigned.length) throw new Error(`scripts/client/groups.ts has no place for ${unassigned.join(', ')}`)
  return operations
}

function of(operations: Map<string, OperationDefinition>, id: string): OperationDefinition {
  const operation = operations.get(id)
  if (!operation) throw new Error(`there is no operation ${id}`)
  return operation
}

const shape = (name: string, { allOf, ...schema }: Node, way: Way) =>
  allOf
    ? `${documented(schema.description)}export interface ${name} extends ${nameOf(allOf[0])} ${membersOf(allOf[1], way)}\n`
    : schema.properties
      ? `${documented(schema.description)}export interface ${name} ${membersOf(schema, way)}\n`
      : `${documented(schema.description)}export type ${name} = ${typeOf(schema, way)}\n`

/** Returns the import of the names that the code uses. Comments don't count. */
function imported(text: string, names: readonly string[], file: string) {
  const code = text.replaceAll(/\/\*\*.*?\*\//gs, '')
  const named = [...new Set(names)].filter(name => new RegExp(`\\b${name}\\b`).test(code)).sort()
  return named.length ? `import type { ${named.join(', ')} } from '${file}'\n` : ''
}

const callImports = (text: string) =>
  [
    imported(text, ['CallOptions', 'Calls', 'Paging', 'WriteOptions'], '../calls/calls.ts'),
    text.includes('segment(') ? "import { segment } from '../calls/calls.ts'\n" : '',
    imported(text, ['Paginator'], '../calls/paginator.ts'),
  ].join('')

const shapeImports = (text: string, folder: string, homes: Map<string, string[]>) =>
  [
    imported(text, ['Open', ...(homes.get('general') ?? [])], `${folder}/general.ts`),
    ...[...homes].map(([home, names]) => (home === 'general' ? '' : imported(text, names, `${folder}/${home}.ts`))),
  ].join('')

const pascalCase = (name: string) => name.slice(0, 1).toUpperCase() + name.slice(1)

if (import.meta.main) {
  const files = await clientFiles()
  for (const name of globSync('{api,shapes}/*', { cwd: sourceOf('') })) if (!(name in files)) await rm(sourceOf(name))
  for (const [name, text] of Object.entries(files)) {
    if ((await readFile(sourceOf(name), 'utf8').catch(() => undefined)) === text) continue
    await writeFile(sourceOf(name), text)
    console.log(`client/src/${name} is written.`)
  }
}

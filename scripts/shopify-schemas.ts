import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import {
  buildClientSchema,
  type DefinitionNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  Kind,
  parse,
  print,
  printSchema,
  specifiedDirectives,
  TypeInfo,
  type TypeNode,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql'

/*
 * Writes `simulator/shopify/schema/`: the part of the schema of Shopify's Admin API that `operations.graphql` uses, and the access scopes of its
 * types. The newest version is complete. The file of an older version has only the definitions that differ from it. Run the script when an
 * operation or a version is added: `node scripts/shopify-schemas.ts`.
 */

const [newest, ...older] = ['2026-10', '2026-07', '2026-04'] as const
const source = '@shopify/dev-mcp@1.16.0'
const integrity = 'sha512-tqgRnK7sQhjew+htxtleTH23nXB5fZcsrhWgEkomsorGXvLOB2mh2upwZm8uzuTDNTZnqtLMe64yIwh6s2awtw=='
const folder = new URL('../simulator/shopify/schema/', import.meta.url)

const notice = readFileSync(new URL('LICENSE-schema.txt', folder), 'utf8').trimEnd()

/** The fields that documents use, by type, and the interfaces and unions on which they select. */
interface Usage {
  fields: Map<string, Set<string>>
  abstract: Set<string>
}

function findUsage(schema: GraphQLSchema, text: string): Usage {
  const document = parse(text)
  const errors = validate(schema, document)
  if (errors.length) throw new Error(errors.map(error => error.message).join('\n'))
  const usage: Usage = { fields: new Map(), abstract: new Set() }
  const add = (type: string, field: string) => {
    const fields = usage.fields.get(type) ?? new Set()
    usage.fields.set(type, fields.add(field))
  }
  const info = new TypeInfo(schema)
  visit(
    document,
    visitWithTypeInfo(info, {
      Field(node) {
        const parent = info.getParentType()
        if (parent) add(parent.name, node.name.value)
        const type = getNamedType(info.getType())
        if (isAbstractType(type)) usage.abstract.add(type.name)
        if (type?.name.endsWith('Connection')) add(type.name, 'pageInfo')
      },
    }),
  )
  for (const field of ['hasNextPage', 'endCursor']) add('PageInfo', field)
  // The fields of an interface are fields of each type behind it.
  for (const name of usage.abstract) {
    const type = schema.getType(name)
    if (isInterfaceType(type) && name !== 'Node')
      for (const { name: possible } of schema.getPossibleTypes(type))
        for (const field of usage.fields.get(name) ?? []) add(possible, field)
  }
  add('Node', 'id')
  usage.abstract.add('Node')
  return usage
}

const toTypeName = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : toTypeName(type.type))

/** Returns the SDL of each definition in the used part of a schema, by its name and without descriptions. */
function prune(schema: GraphQLSchema, { fields, abstract }: Usage): ReadonlyMap<string, string> {
  const definitions = new Map(
    parse(printSchema(schema)).definitions.flatMap(definition =>
      'name' in definition && definition.name ? [[definition.name.value, definition]] : [],
    ),
  )
  const pruned = new Map<string, DefinitionNode>()
  const pending = ['QueryRoot', 'Mutation', ...abstract, ...fields.keys()]
  const isUsed = (type: string, field: FieldDefinitionNode) => fields.get(type)?.has(field.name.value) === true
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
    const node = definitions.get(name)
    if (pruned.has(name) || !node) continue
    if (node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_DEFINITION) {
      const used = node.fields?.filter(field => isUsed(name, field)) ?? []
      if (!used.length) continue
      pruned.set(name, {
        ...node,
        fields: used,
        interfaces: (node.interfaces ?? []).filter(
          ({ name: { value } }) =>
            abstract.has(value) && (value !== 'Node' || used.some(definition => definition.name.value === 'id')),
        ),
      })
      for (const field of used)
        pending.push(toTypeName(field.type), ...(field.arguments ?? []).map(({ type }) => toTypeName(type)))
    } else {
      pruned.set(name, node)
      if (node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION)
        pending.push(...(node.fields ?? []).map(({ type }) => toTypeName(type)))
    }
  }
  const standard = new Set([...specifiedDirectives.map(({ name }) => name), 'accessRestricted', 'mutationPath'])
  const directives = [...definitions].filter(
    ([name, { kind }]) => kind === Kind.DIRECTIVE_DEFINITION && !standard.has(name),
  )
  const withoutDescription = (definition: DefinitionNode) =>
    visit(definition, { enter: node => ('description' in node ? { ...node, description: undefined } : undefined) })
  return new Map([...directives, ...pruned].map(([name, definition]) => [name, print(withoutDescription(definition))]))
}

interface Access {
  type: 'type' | 'field' | 'mutation' | 'query'
  typeName?: string
  fieldName?: string
  name?: string
  offlineScopes?: string[]
}

/** Returns the access scopes of the used types and root fields. A client needs one of the scopes of each. */
function selectScopes(items: readonly Access[], types: ReadonlyMap<string, string>, { fields }: Usage) {
  const entries = items.flatMap(({ typeName, fieldName, offlineScopes = [] }) => {
    if (!typeName || !types.has(typeName) || !offlineScopes.length) return []
    if (fieldName === undefined) return [[typeName, offlineScopes] as const]
    return fields.get(typeName)?.has(fieldName) ? [[`${typeName}.${fieldName}`, offlineScopes] as const] : []
  })
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function write() {
  const temporary = mkdtempSync(join(tmpdir(), 'shopify-schemas-'))
  try {
    const packed = execFileSync('npm', ['pack', source, '--silent', '--pack-destination', temporary], {
      encoding: 'utf8',
    })
    const archive = join(temporary, packed.trim())
    const hash = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
    if (hash !== integrity) throw new Error(`${source} must have the hash ${integrity}; it has ${hash}.`)
    const operations = readFileSync(new URL('operations.graphql', folder), 'utf8')
    const readVersion = (version: string) => {
      const entry = toEntry(version)
      execFileSync('tar', ['xzf', archive, '-C', temporary, entry])
      const { data, offline_scopes: access } = JSON.parse(gunzipSync(readFileSync(join(temporary, entry))).toString())
      const schema = buildClientSchema(data, { assumeValid: true })
      const usage = findUsage(schema, operations)
      const definitions = prune(schema, usage)
      return { definitions, scopes: JSON.stringify(selectScopes(access.items, definitions, usage), null, 2) }
    }
    const { definitions, scopes } = readVersion(newest)
    writeSchema(newest, 'The part of', [
      'schema {\n  query: QueryRoot\n  mutation: Mutation\n}',
      ...definitions.values(),
    ])
    writeFileSync(new URL('scopes.json', folder), `${scopes}\n`)
    for (const version of older) {
      const versionContent = readVersion(version)
      if (versionContent.scopes !== scopes) throw new Error(`The scopes of ${version} must be those of ${newest}.`)
      const different = [...versionContent.definitions].filter(([name, text]) => definitions.get(name) !== text)
      writeSchema(
        version,
        `The definitions that differ from ${newest}.graphql, of the part of`,
        different.map(([, text]) => text),
      )
    }
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

const toEntry = (version: string) => `package/dist/data/admin_${version}.json.gz`

function writeSchema(version: string, extent: string, definitions: readonly string[]) {
  const origin = `# ${extent} Shopify's Admin GraphQL API ${version} that operations.graphql uses.\n# Source: ${toEntry(version)} of ${source}. Written by scripts/shopify-schemas.ts.\n#\n`
  const licence = notice.replaceAll(/^/gm, '# ').replaceAll(/ +$/gm, '')
  writeFileSync(new URL(`${version}.graphql`, folder), `${origin}${licence}\n\n${definitions.join('\n\n')}\n`)
  console.log(`${version}: ${definitions.length} definitions`)
}

write()

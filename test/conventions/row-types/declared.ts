import { fileURLToPath } from 'node:url'
import { isCallExpression, isPropertyAccessExpression, type Node, type SourceFile } from 'typescript/unstable/ast'
import { API, type Checker, type Type, type TypeReference } from 'typescript/unstable/sync'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The declared type of a column. */
export interface Field {
  /** The TypeScript type without null. A union of string literals is `string`. */
  type: string
  nullable: boolean
}

/** A call of `row` or `rows`: its position, such as `src/store/….ts:12:34`, and the columns of its type argument. */
export interface DeclaredCall {
  at: string
  fields: Record<string, Field>
}

/** Lists the calls of `row` and `rows` in `src` with their declared types. Leaves out calls without a type argument, whose rows have no columns. */
export function listDeclaredCalls(): DeclaredCall[] {
  const api = new API({ cwd: root })
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${root}tsconfig.json`] }).getProjects()
    if (!project) throw new Error('the compiler found no project in tsconfig.json')
    const { checker, program } = project
    const files = program.getSourceFileNames().filter(name => name.startsWith(`${root}src/`))
    const declared = files.flatMap(name => {
      const file = program.getSourceFile(name)
      if (!file) throw new Error(`the compiler found no source file ${name}`)
      return findCalls(checker, file).map(({ call, method }) => {
        const { line, character } = file.getLineAndCharacterOfPosition(method.getStart(file))
        const at = `${name.slice(root.length)}:${line + 1}:${character + 1}`
        return { at, fields: listFields(checker, getRowType(checker, call)) }
      })
    })
    return declared.filter(({ fields }) => Object.keys(fields).length)
  } finally {
    api.close()
  }
}

/** Finds the calls of the methods `row` and `rows` that `src/database/db.ts` declares. */
function findCalls(checker: Checker, file: SourceFile) {
  const calls: { call: Node; method: Node }[] = []
  const visit = (node: Node) => {
    node.forEachChild(visit)
    if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return
    const { name: method } = node.expression
    if (!/^rows?$/.test(method.text)) return
    const declarations = checker.getSymbolAtLocation(method)?.declarations ?? []
    if (declarations.some(({ path }) => path.endsWith('/src/database/db.ts'))) calls.push({ call: node, method })
  }
  visit(file)
  return calls
}

/** Returns the row type of a call that returns `Promise<Row[]>` or `Promise<Row | undefined>`. */
function getRowType(checker: Checker, call: Node): Type {
  const result = getTypeArgument(checker, checker.getTypeAtLocation(call))
  return checker.isArrayType(result) ? getTypeArgument(checker, result) : (checker.getNonNullableType(result) ?? result)
}

function getTypeArgument(checker: Checker, type: Type | undefined): Type {
  const [argument] = checker.getTypeArguments(type as TypeReference)
  if (!argument) throw new Error('the type has no type argument')
  return argument
}

const listFields = (checker: Checker, row: Type) =>
  Object.fromEntries(
    checker.getPropertiesOfType(row).map(property => {
      const type = checker.getTypeOfSymbol(property)
      const nonNullType = type && checker.getNonNullableType(type)
      const base = nonNullType && checker.getBaseTypeOfLiteralType(nonNullType)
      if (!base) throw new Error(`${property.name} has no type`)
      const nullable = checker.isTypeAssignableTo(checker.getNullType(), type)
      return [property.name, { type: checker.typeToString(base).replaceAll('<ArrayBufferLike>', ''), nullable }]
    }),
  )

import { fileURLToPath } from 'node:url'
import { isCallExpression, isPropertyAccessExpression, type Node, type SourceFile } from 'typescript/unstable/ast'
import { API, type Checker, type Type, type TypeReference } from 'typescript/unstable/sync'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The declared type of a column. */
export interface Field {
  /** As TypeScript writes it, null apart; one of several texts is a `string`. */
  type: string
  nullable: boolean
}

/** A call of `row` or `rows`: where it stands, `src/store/….ts:12:34`, and the columns of the type that it is cast to. */
export interface Declared {
  at: string
  fields: Record<string, Field>
}

/** All calls of `row` and `rows` in `src`, as the compiler understands them; not those without a type, of whose rows nothing can be read. */
export function declaredRows(): Declared[] {
  const api = new API({ cwd: root })
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${root}tsconfig.json`] }).getProjects()
    if (!project) throw new Error('tsconfig.json is a project')
    const { checker, program } = project
    const files = program.getSourceFileNames().filter(name => name.startsWith(`${root}src/`))
    const declared = files.flatMap(name => {
      const file = program.getSourceFile(name)
      if (!file) throw new Error(`${name} is a file of the project`)
      return callsIn(checker, file).map(({ call, method }) => {
        const { line, character } = file.getLineAndCharacterOfPosition(method.getStart(file))
        const at = `${name.slice(root.length)}:${line + 1}:${character + 1}`
        return { at, fields: fieldsOf(checker, rowType(checker, call)) }
      })
    })
    return declared.filter(({ fields }) => Object.keys(fields).length)
  } finally {
    api.close()
  }
}

/** Calls of the methods `row` and `rows` that `src/database/db.ts` declares. */
function callsIn(checker: Checker, file: SourceFile) {
  const calls: { call: Node; method: Node }[] = []
  const refresh = (node: Node) => {
    node.forEachChild(refresh)
    if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return
    const { name: method } = node.expression
    if (!/^rows?$/.test(method.text)) return
    const declarations = checker.getSymbolAtLocation(method)?.declarations ?? []
    if (declarations.some(({ path }) => path.endsWith('/src/database/db.ts'))) calls.push({ call: node, method })
  }
  refresh(file)
  return calls
}

/** The row that a call comes to: of `Promise<Row[]>`, or of `Promise<Row | undefined>`. */
function rowType(checker: Checker, call: Node): Type {
  const response = argumentOf(checker, checker.getTypeAtLocation(call))
  return checker.isArrayType(response)
    ? argumentOf(checker, response)
    : (checker.getNonNullableType(response) ?? response)
}

function argumentOf(checker: Checker, type: Type | undefined): Type {
  const [argument] = checker.getTypeArguments(type as TypeReference)
  if (!argument) throw new Error('a promise and an array are of something')
  return argument
}

const fieldsOf = (checker: Checker, row: Type) =>
  Object.fromEntries(
    checker.getPropertiesOfType(row).map(property => {
      const type = checker.getTypeOfSymbol(property)
      const some = type && checker.getNonNullableType(type)
      const base = some && checker.getBaseTypeOfLiteralType(some)
      if (!base) throw new Error(`${property.name} has a type`)
      const nullable = checker.isTypeAssignableTo(checker.getNullType(), type)
      return [property.name, { type: checker.typeToString(base).replaceAll('<ArrayBufferLike>', ''), nullable }]
    }),
  )

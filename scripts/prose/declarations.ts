import { parseSync } from 'oxc-parser'
import { privateNameWords } from './words.ts'

interface Node {
  type: string
  name?: unknown
  [key: string]: unknown
}

/** Returns the declared names of a file (variables, parameters, functions, types and properties) that contain a private word. */
export function findPrivateNames(path: string, source: string): string[] {
  const names: string[] = []
  const visit = (node: Node, isDeclaration: boolean) => {
    if (node.type === 'Identifier' && isDeclaration && hasPrivateWord(String(node.name))) names.push(String(node.name))
    for (const [key, value] of Object.entries(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (typeof child !== 'object' || child === null || !('type' in child)) continue
        visit(child as Node, declares(node, key, isDeclaration))
      }
    }
  }
  visit(parseSync(path, source).program as unknown as Node, false)
  return names
}

/** True if an identifier in this part of a node is declared there. Patterns pass on whether they belong to a declaration. */
function declares({ type }: Node, key: string, isDeclaration: boolean): boolean {
  if (key === 'id' || key === 'params') return /Declarat|Function/.test(type)
  if (key === 'key') return /^(TSPropertySignature|TSMethodSignature|PropertyDefinition|MethodDefinition)$/.test(type)
  if (/^(ObjectPattern|ArrayPattern|RestElement|TSParameterProperty)$/.test(type)) return isDeclaration
  return isDeclaration && ((type === 'Property' && key === 'value') || (type === 'AssignmentPattern' && key === 'left'))
}

const hasPrivateWord = (name: string) =>
  name.split(/(?<=[a-z0-9])(?=[A-Z])|_/).some(word => privateNameWords.has(word.toLowerCase()))

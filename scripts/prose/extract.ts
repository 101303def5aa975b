import { type Comment, parseSync } from 'oxc-parser'

/** A text that people read, and the line (from 1) on which it begins in its file. */
export interface Passage {
  text: string
  line: number
  kind: 'comment' | 'string' | 'title'
}

/** Returns the comments and the sentences in string literals of a TypeScript, JavaScript or SQL file. */
export function extractPassages(path: string, source: string): Passage[] {
  if (path.endsWith('.sql')) return extractSqlComments(source)
  const { program, comments } = parseSync(path, source)
  const lineStarts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)]
  const lineAt = (offset: number) => lineStarts.findLastIndex(start => start <= offset) + 1
  const strings = collectStrings(program as unknown as Node).map(({ text, start, isTitle }) => ({
    text,
    line: lineAt(start),
    kind: isTitle ? ('title' as const) : ('string' as const),
  }))
  return [...joinLineComments(comments, source, lineAt), ...strings.filter(({ text }) => isProse(text))]
}

/** Returns the lines of comments, joined if they are consecutive, and the texts of `comment on … is '…'`. */
function extractSqlComments(source: string): Passage[] {
  const patterns = [/(?:^[ \t]*--.*\n)+|--.*/gm, /^comment on [^']* is\s+'(?:[^']|'')*'/gm]
  return patterns.flatMap(pattern =>
    [...source.matchAll(pattern)].map(({ 0: comment, index }) => ({
      text: comment
        .replace(/^comment on [^']* is\s+'/, '')
        .replaceAll(/^[ \t]*--[ \t]?|'$/gm, '')
        .trim(),
      line: source.slice(0, index).split('\n').length,
      kind: 'comment' as const,
    })),
  )
}

/** Joins line comments on consecutive lines into one passage, and strips the stars of block comments. */
function joinLineComments(comments: readonly Comment[], source: string, lineAt: (offset: number) => number): Passage[] {
  const passages: (Passage & { end: number; isLine: boolean })[] = []
  for (const { type, value, start, end } of comments) {
    if (/^\s*(biome-ignore|#|@ts-|!|v8 ignore)/.test(value)) continue
    const line = lineAt(start)
    const last = passages.at(-1)
    const text = type === 'Block' ? value.replace(/^\s*\*\s?/gm, '').trim() : value.trim()
    const startsLine = /(^|\n)[ \t]*$/.test(source.slice(0, start))
    if (type === 'Line' && last?.isLine && startsLine && lineAt(last.end) === line - 1) {
      last.text += ` ${text}`
      last.end = end
    } else passages.push({ text, line, kind: 'comment', end, isLine: type === 'Line' })
  }
  return passages.map(({ text, line, kind }) => ({ text, line, kind }))
}

interface Node {
  type: string
  start: number
  [key: string]: unknown
}
interface Literal {
  text: string
  start: number
  isTitle: boolean
}

/** Collects string and template literals. A hole in a template becomes `X`. */
function collectStrings(root: Node): Literal[] {
  const literals: Literal[] = []
  const visit = (node: Node, isTitle: boolean) => {
    if (/^(Import|Export(All|Named)).*Declaration$/.test(node.type) && node.source) return
    if (node.type === 'Literal' && typeof node.value === 'string')
      literals.push({ text: node.value, start: node.start, isTitle })
    if (node.type === 'TemplateLiteral') {
      const texts = (node.quasis as { value: { cooked: string | null } }[]).map(({ value }) => value.cooked ?? '')
      literals.push({ text: texts.join('X'), start: node.start, isTitle })
    }
    if (node.type === 'TaggedTemplateExpression' && (node.tag as { name?: string }).name === 'sql') return
    const callee = node.type === 'CallExpression' ? (node.callee as { name?: string }).name : undefined
    for (const [key, value] of Object.entries(node)) {
      const children = Array.isArray(value) ? value : [value]
      children.forEach((child: unknown, i) => {
        if (typeof child !== 'object' || child === null || !('type' in child)) return
        visit(child as Node, callee === 'test' && key === 'arguments' && i === 0)
      })
    }
  }
  visit(root, false)
  return literals
}

/** True if a literal is a sentence or a label rather than a name, a path, SQL or markup. */
const isProse = (text: string) =>
  /[a-z]{2,} [a-z]{2,}/i.test(text) &&
  !/^\s*(select|insert|update|delete|with|create|alter|drop|set|lock|begin|grant|copy|where)\b/i.test(text) &&
  !/^\s*(<|Examples?:|#!|mount )/.test(text) &&
  !/^[\w.-]+\/[\w/.-]+$/.test(text)

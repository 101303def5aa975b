import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'

const root = fileURLToPath(new URL('../..', import.meta.url))
const {
  findTexts,
  textAttributes,
}: { findTexts: (parts: string[]) => { text: string; isFragment: boolean }[]; textAttributes: RegExp } = await import(
  new URL('../../console/lib/template.js', import.meta.url).href
)

/** A text of the console in English. `one`: its singular, if it depends on a number. */
interface Text {
  text: string
  one?: string
}

/** A literal that people see although it is in no catalogue. `start` and `end` are its place in the source. */
export interface Finding {
  path: string
  line: number
  start: number
  end: number
  problem: string
}

interface Collection {
  texts: Text[]
  findings: Finding[]
}

/** Modules of the server with texts of the console. Their other literals aren't checked. */
const serverModules = ['src/console/assets.ts', 'src/domain/health/health.ts']

/** Collects the texts of all modules of the console. */
export function collectTexts(): Collection {
  const paths = [...globSync('console/**/*.js', { cwd: root }).sort(), ...serverModules]
  const collections = paths.map(path => collectFrom(path, readFileSync(root + path, 'utf8')))
  return {
    texts: collections.flatMap(({ texts }) => texts),
    findings: collections.flatMap(({ findings }) => findings),
  }
}

/** A translation, or its form for each plural category of `Intl.PluralRules`. */
type Translation = string | Partial<Record<Intl.LDMLPluralRule, string>>

/** Returns the English catalogue, which is the template for translators. */
export function buildCatalogue({ texts } = collectTexts()): Record<string, Translation> {
  const plurals = new Map<string, Translation>()
  for (const { text, one } of texts) if (one !== undefined) plurals.set(text, { one, other: text })
  const keys = [...new Set(texts.map(({ text }) => text))].sort()
  return Object.fromEntries(keys.map(key => [key, plurals.get(key) ?? key]))
}

/** Returns the values and elements of a text: `{name}` and `<link>`. A singular can have a word instead of its count. */
const listMarks = (text: string) =>
  [...new Set(text.match(/\{\w+\}|<\/?\w+>/g))]
    .filter(mark => mark !== '{count}')
    .sort()
    .join(' ')

/** Returns the problems of a translated catalogue: texts that the console doesn't have, and translations with other values or elements. */
export function checkTranslations(
  english: Record<string, Translation>,
  translated: Record<string, Translation>,
): string[] {
  return Object.entries(translated).flatMap(([key, translation]) => {
    if (!Object.hasOwn(english, key)) return [`the console has no text "${key}"`]
    const forms = typeof translation === 'string' ? [translation] : Object.values(translation)
    if (typeof translation === 'object' && translation.other === undefined)
      return [`"${key}" must have the form "other"`]
    return forms.flatMap(form =>
      listMarks(form) === listMarks(key) ? [] : [`"${form}" must have the values and elements of "${key}"`],
    )
  })
}

/** The visibility of a literal to people. Literals that are shown must be in the catalogue, and unclear ones if they look like English. */
type Visibility = 'shown' | 'hidden' | 'unclear'

/** Further names of attributes and properties that people see, whose literals a template doesn't translate. */
const shownNames = /^(group|text|summary|note|noun|value|detail|tools|facts|figures|content|amount|legend)$/
const hiddenNames =
  /^(class|className|command|key|id|href|src|type|role|tone|colour|file|path|route|sort|filter|dataset|pattern|autocomplete|target|rel|style|method|headers|accept|level|mode|view|size|version|code|font|stroke|scope|step|min|max|maxlength|list|kind|unit|date|day|month|year|hour|minute|second|hourCycle|timeZone|timeZoneName|signDisplay|currencyDisplay|block|inline|selector|aria-\w+|content-disposition)$/
/** Returns the place of the value of an attribute or property. */
const getVisibility = (name: string): Visibility =>
  textAttributes.test(name) || shownNames.test(name) ? 'shown' : hiddenNames.test(name) ? 'hidden' : 'unclear'

/** Functions with technical arguments. */
const technicalFunctions =
  /^(callApi|link\w+|goTo|loadAll|findRecord|useLoad|useSection|useHasRole|includesRole|useKeptFocus|toPagePath|exportRecords|post|includes|startsWith|endsWith|replace|replaceAll|split|match|test|query\w*|closest|getElementById|getItem|setItem|removeItem|\w+EventListener|createElement|\w+Attribute|getPropertyValue|get|set|has|delete|padStart|localeCompare|normalize|download\w*|replaceState|groupBy|RegExp|URL|URLSearchParams|Set|Error|DateTimeFormat|NumberFormat|DisplayNames|supportedValuesOf)$/

/** Functions whose arguments people see. */
const shownFunctions = /^(none|showToast)$/

/** Returns the place of the arguments of a function. */
const getArgumentVisibility = (name: string, visibility: Visibility): Visibility =>
  technicalFunctions.test(name) || visibility === 'hidden' ? 'hidden' : shownFunctions.test(name) ? 'shown' : 'unclear'

/** Literals that aren't translated: names of products and of stored values. */
const names = new Set(['Tillbridge', 'Shopify', 'Medusa', 'tillbridge service', 'tillbridge screen', 'wide'])

/** True if a literal looks like English rather than like a name in code. */
const looksEnglish = (literal: string) => /\p{L}{2}[,.:;…]?\s[\p{L}\d(&]|\d \p{Ll}{2}|^\p{Lu}\p{Ll}+$/u.test(literal)

interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

/** Returns the name of a function, property or key. */
function getName(node: unknown): string {
  if (!isNode(node)) return ''
  if (node.type === 'MemberExpression') return getName(node.property)
  return String((node.type === 'Literal' ? node.value : node.name) ?? '')
}

const getString = (node: unknown) =>
  isNode(node) && node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined

/** True if an expression is a text of the catalogue. */
const isText = (node: unknown): boolean =>
  isNode(node) && node.type === 'CallExpression' && /^(t|plural)$/.test(getName(node.callee))

/** True if an expression contains a text of the catalogue. */
const hasText = (node: unknown): boolean =>
  Array.isArray(node) ? node.some(hasText) : isNode(node) && (isText(node) || Object.values(node).some(hasText))

/** Returns the strings between the values of a template literal. */
const getParts = (template: unknown) =>
  (template as { quasis: { value: { cooked: string } }[] }).quasis.map(({ value }) => value.cooked)

/** Collects the texts of one module. */
export function collectFrom(path: string, source: string): Collection {
  const texts: Text[] = []
  const findings: Finding[] = []
  const isServerModule = !path.startsWith('console/')

  const report = ({ start, end }: Node, problem: string) =>
    findings.push({ path, line: source.slice(0, start).split('\n').length, start, end, problem })

  const check = (node: Node, literal: string, visibility: Visibility) => {
    if (isServerModule || visibility === 'hidden' || names.has(literal)) return
    if (looksEnglish(literal) || (visibility === 'shown' && /\p{L}{2}/u.test(literal))) report(node, literal)
  }

  const visitEach = (nodes: unknown[], visibility: Visibility) => {
    for (const node of nodes) visit(node, visibility)
  }

  /** Visits a template of `html`. Each expression is the value of an attribute, or content. */
  const visitTemplate = (node: Node) => {
    const parts = getParts(node.quasi)
    for (const { text, isFragment } of findTexts(parts)) {
      if (isFragment) report(node, `part of a sentence: ${text}`)
      else texts.push({ text })
    }
    let isInTag = false
    for (const [i, expression] of (node.quasi as { expressions: Node[] }).expressions.entries()) {
      const before = (parts[i] ?? '').replace(/"[^"]*"/g, '')
      const [open, close] = [before.lastIndexOf('<'), before.lastIndexOf('>')]
      if (open !== close) isInTag = open > close
      const attribute = /([\w-]+)=$/.exec(before)?.[1] ?? ''
      visit(expression, !isInTag ? 'shown' : before.endsWith('<') ? 'hidden' : getVisibility(attribute))
    }
  }

  /** Collects the texts of a call of `t`, `rich` or `plural`. Returns false if it is another call. */
  const visitText = (node: Node): boolean => {
    const name = isNode(node.callee) && node.callee.type === 'Identifier' ? getName(node.callee) : ''
    const strings = (node.arguments as Node[]).map(getString)
    if (name === 't' || name === 'rich') {
      if (strings[0] === undefined) report(node, `${name} without a literal`)
      else texts.push({ text: strings[0] })
    } else if (name === 'plural') {
      if (strings[1] === undefined || strings[2] === undefined) report(node, 'plural without literals')
      else texts.push({ one: strings[1], text: strings[2] })
    } else return false
    const values = (node.arguments as Node[]).filter((_, i) => strings[i] === undefined)
    visitEach(values, 'unclear')
    return true
  }

  const visit = (node: unknown, visibility: Visibility): void => {
    if (Array.isArray(node)) visitEach(node, visibility)
    if (!isNode(node)) return
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ImportExpression':
      case 'ThrowStatement':
        break
      case 'TaggedTemplateExpression':
        if (getName(node.tag) === 'html') visitTemplate(node)
        break
      case 'CallExpression':
      case 'NewExpression':
        if (node.type === 'CallExpression' && visitText(node)) break
        visit(node.callee, 'unclear')
        visit(node.arguments, getArgumentVisibility(getName(node.callee), visibility))
        break
      case 'Property':
        visit(node.value, visibility === 'hidden' ? 'hidden' : getVisibility(getName(node.key)))
        break
      case 'BinaryExpression':
        visitEach([node.left, node.right], node.operator === '+' ? visibility : 'hidden')
        break
      case 'SwitchCase':
        visit(node.consequent, 'unclear')
        break
      case 'ConditionalExpression': {
        const results = [node.consequent, node.alternate]
        visit(node.test, 'hidden')
        visitEach(results, results.some(isText) ? 'shown' : visibility)
        break
      }
      case 'AssignmentPattern':
        visit(node.right, 'unclear')
        break
      case 'MemberExpression':
        visit(node.object, 'unclear')
        visit(node.property, 'hidden')
        break
      case 'BlockStatement':
        visit(node.body, 'unclear')
        break
      case 'TemplateLiteral': {
        const parts = getParts(node)
        if (/\p{L}/u.test(parts.join(''))) check(node, parts.join('Xx'), visibility)
        if (visibility !== 'hidden' && parts.slice(1, -1).includes(' ') && hasText(node.expressions))
          report(node, 'a text and a value that must be one text')
        visit(node.expressions, visibility)
        break
      }
      case 'Literal':
        check(node, getString(node) ?? '', visibility)
        break
      default:
        visitEach(Object.values(node), visibility)
    }
  }
  visit(parseSync(path, source).program, 'unclear')
  return { texts, findings }
}

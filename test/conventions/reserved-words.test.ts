import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

/** The reserved words of the languages of generated clients. */
const reservedWords: Readonly<Record<string, string>> = {
  TypeScript:
    'break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with implements interface let package private protected public static yield await',
  Python:
    'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield',
  PHP: 'abstract and array as break callable case catch class clone const continue declare default die do echo else elseif empty enddeclare endfor endforeach endif endswitch endwhile eval exit extends final finally fn for foreach function global goto if implements include include_once instanceof insteadof interface isset list match namespace new or print private protected public readonly require require_once return static switch throw trait try unset use var while xor yield self parent true false null void int float bool string iterable object mixed never enum',
  'C#': 'abstract as base bool break byte case catch char checked class const continue decimal default delegate do double else enum event explicit extern false finally fixed float for foreach goto if implicit in int interface internal is lock long namespace new null object operator out override params private protected public readonly ref return sbyte sealed short sizeof stackalloc static string struct switch this throw true try typeof uint ulong unchecked unsafe ushort using virtual void volatile while',
  Java: 'abstract assert boolean break byte case catch char class const continue default do double else enum extends final finally float for goto if implements import instanceof int interface long native new package private protected public return short static strictfp super switch synchronized this throw throws transient try void volatile while true false null',
  Go: 'break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var',
}

/** Fields and parameters that keep a reserved word. All generators escape them: `new_`, `@new`, `getNew()`, `New`. */
const exceptions: Readonly<Record<string, string>> = {
  decimal: 'the query parameter of POST /imports that the command has as --decimal',
  from: 'the previous platform item of a mapping fix, next to `to`',
  new: 'one of the six counts of a run: read, new, changed, unchanged, removed, rejected',
  type: 'reserved in Go only, where fields are capitalized; RFC 9457 and the retail transaction have a `type`',
}

interface Node {
  properties?: Record<string, Node>
  parameters?: { name: string; in: string }[]
  operationId?: string
}

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))

/** Returns the names of fields, query parameters and operations. Header names contain hyphens, and path parameters become arguments. */
function collectNames(node: unknown, names = new Set<string>()): Set<string> {
  if (typeof node !== 'object' || node === null) return names
  const { properties = {}, parameters = [], operationId } = node as Node
  if (!Array.isArray(node)) {
    for (const name of Object.keys(properties)) names.add(name)
    for (const { name, in: place } of Array.isArray(parameters) ? parameters : [])
      if (place === 'query') names.add(name)
    if (operationId !== undefined) names.add(operationId)
  }
  for (const child of Object.values(node)) collectNames(child, names)
  return names
}

/** Returns the languages that reserve a word. Type names are compared in any case, because PHP does. */
const findLanguages = (name: string, ignoresCase = false) =>
  Object.entries(reservedWords)
    .filter(([, words]) =>
      words.split(' ').some(word => (ignoresCase ? word.toLowerCase() === name.toLowerCase() : word === name)),
    )
    .map(([language]) => language)

test('no schema has the name of a reserved word', () => {
  const names = Object.keys(document.components.schemas)
  assert.ok(names.length > 100)
  assert.deepEqual(
    names.filter(name => findLanguages(name, true).length),
    [],
  )
})

test('fields, parameters and operations are reserved words only by exception', () => {
  const names = [...collectNames({ paths: document.paths, components: document.components })]
  assert.ok(names.length > 300)
  assert.deepEqual(names.filter(name => findLanguages(name).length).sort(), Object.keys(exceptions))
})

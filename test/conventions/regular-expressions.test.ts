import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseSync } from 'oxc-parser'
import { checkSync } from 'recheck'
import openapi from '../../openapi.json' with { type: 'json' }
import { readSources } from '../support/imports.ts'

// Text from clients, files and other systems must not make a regular expression take quadratic time: it would block every other request.

/** Patterns that are quadratic in theory, and why their text is short. Prefer a loop or `split` to a new entry. */
const exceptions = new Map([
  ['[\\sT,]+$', 'date formats have at most 64 characters'],
  ['\\uFFFD+$', 'of a webhook response the first KiB is kept'],
  ['=+$', 'the end of a digest or key in base64'],
  ['0+$', 'decimals, at most 28 digits'],
  ['^0+(?=\\d)', 'at most 18 digits'],
  ['\\/+$', 'addresses of the configuration and of settings, at most 500 characters'],
])

interface Pattern {
  source: string
  flags: string
  place: string
}

/** Returns the regular expressions of a file. */
function literalsIn({ path, text }: { path: string; text: string }): Pattern[] {
  const patterns: Pattern[] = []
  JSON.stringify(parseSync(path, text).program, (_, node) => {
    if (node?.type === 'Literal' && node.regex)
      patterns.push({ source: node.regex.pattern, flags: node.regex.flags, place: path })
    return typeof node === 'bigint' || node instanceof RegExp ? null : node
  })
  return patterns
}

/** Returns the patterns of the schemas that requests are validated with. */
function schemaPatterns(): Pattern[] {
  const sources = new Set<string>()
  JSON.stringify(openapi, (key, value) => {
    if (key === 'pattern' && typeof value === 'string') sources.add(value)
    return value
  })
  return [...sources].map(source => ({ source, flags: 'u', place: 'a schema' }))
}

/** Returns the attack that recheck's exact checker finds. Returns undefined if it finds no attack or can't decide. */
function attackOn({ source, flags }: Pattern): string | undefined {
  const result = checkSync(source, flags, { checker: 'automaton', timeout: 2_000 })
  return result.status === 'vulnerable' ? `${result.complexity.summary}, e.g. ${result.attack.pattern}` : undefined
}

/** Files whose expressions read only our own documents or the configuration, once. */
const ownText = ['src/config/', 'src/http/docs/markdown.ts', 'src/http/docs/site.ts']

test('regular expressions over foreign text take at most linear time', () => {
  const sources = readSources('src').filter(({ path }) => !ownText.some(own => path.startsWith(own)))
  const literals = sources.flatMap(literalsIn)
  assert.ok(literals.length > 100, 'the expressions are found')
  const unique = new Map(
    [...literals, ...schemaPatterns()].map(pattern => [`/${pattern.source}/${pattern.flags}`, pattern]),
  )
  const slow = [...unique.values()].flatMap(pattern => {
    const attack = exceptions.has(pattern.source) ? undefined : attackOn(pattern)
    return attack === undefined ? [] : [`${pattern.place}: /${pattern.source}/${pattern.flags} (${attack})`]
  })
  assert.deepEqual(slow, [])
})

test('each exception is a regular expression of the sources', () => {
  const text = readSources('src').map(({ path }) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))
  for (const source of exceptions.keys())
    assert.ok(
      text.some(line => line.includes(`/${source}/`)),
      source,
    )
})

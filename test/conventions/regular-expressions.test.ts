import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseSync } from 'oxc-parser'
import { checkSync } from 'recheck'
import openapi from '../../openapi.json' with { type: 'json' }
import { readSources } from '../support/imports.ts'

// A regular expression must not take quadratic time for strings from clients, files and other systems, because it would block all other requests.

/** Quadratic patterns, each with the reason why its input is short. Prefer a loop or `split` to a new entry. */
const exceptions = new Map([
  ['[\\sT,]+$', 'date formats have at most 64 characters'],
  ['\\uFFFD+$', 'only the first KiB of a webhook response'],
  ['=+$', 'a digest or key in base64'],
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
function findLiterals({ path, text }: { path: string; text: string }): Pattern[] {
  const patterns: Pattern[] = []
  JSON.stringify(parseSync(path, text).program, (_, node) => {
    if (node?.type === 'Literal' && node.regex)
      patterns.push({ source: node.regex.pattern, flags: node.regex.flags, place: path })
    return typeof node === 'bigint' || node instanceof RegExp ? null : node
  })
  return patterns
}

/** Returns the patterns of the schemas that validate requests. */
function listSchemaPatterns(): Pattern[] {
  const sources = new Set<string>()
  JSON.stringify(openapi, (key, value) => {
    if (key === 'pattern' && typeof value === 'string') sources.add(value)
    return value
  })
  return [...sources].map(source => ({ source, flags: 'u', place: 'a schema' }))
}

/** Returns the attack that recheck's exact checker finds, or undefined if it finds none or can't decide. */
function findAttack({ source, flags }: Pattern): string | undefined {
  const result = checkSync(source, flags, { checker: 'automaton', timeout: 2_000 })
  return result.status === 'vulnerable' ? `${result.complexity.summary}, e.g. ${result.attack.pattern}` : undefined
}

/** Files whose expressions only read our own documents or the configuration. */
const ownTextFiles = ['src/config/', 'src/http/docs/markdown.ts', 'src/http/docs/site.ts']

test('regular expressions over foreign text take at most linear time', () => {
  const sources = readSources('src').filter(({ path }) => !ownTextFiles.some(own => path.startsWith(own)))
  const literals = sources.flatMap(findLiterals)
  assert.ok(literals.length > 100, 'the expressions are found')
  const unique = new Map(
    [...literals, ...listSchemaPatterns()].map(pattern => [`/${pattern.source}/${pattern.flags}`, pattern]),
  )
  const slow = [...unique.values()].flatMap(pattern => {
    const attack = exceptions.has(pattern.source) ? undefined : findAttack(pattern)
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

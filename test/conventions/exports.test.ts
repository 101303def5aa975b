import assert from 'node:assert/strict'
import { dirname, join, normalize } from 'node:path/posix'
import { test } from 'node:test'
import { readModules, readSources, type Source } from '../support/imports.ts'

const source = readSources('src')
const allFiles = [...source, ...readSources('client', 'simulator', 'seed', 'scenarios', 'bench', 'scripts', 'test')]

const exportPattern = /^export (?:async )?(?:const|function\*?|class|interface|type) (?:[{[]([^}\]]*)[}\]]|([\w$]+))/gm
const importPattern = /^(?:import|export)\s([^'"`;]*?)\bfrom\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm

/**
 * Returns the names in a list such as `a, type B, c as d` or `{ e: f }`. `side` selects the name before or after a
 * renaming.
 */
const listNames = (list: string, side: 'before' | 'after') =>
  list
    .split(/[,{}]/)
    .map(name => name.replace(/^\s*(type\s)?/, '').trim())
    .map(name => (side === 'before' ? name.split(' as ')[0] : name.split(':').at(-1))?.trim() ?? '')
    .filter(Boolean)

/** Returns the exports of a file, each as `module name`. */
const listExports = ({ path, text }: Source) =>
  [...text.matchAll(exportPattern)]
    .flatMap(([, list, name]) => (name === undefined ? listNames(list ?? '', 'after') : [name]))
    .map(name => `${path} ${name}`)

/** Returns the imports of a file, each as `module name`, or `module *` for a namespace import. */
const listImports = ({ path, text }: Source) =>
  [...text.matchAll(importPattern)].flatMap(([, list, from, lazy]) => {
    const target = normalize(join(dirname(path), from ?? lazy ?? ''))
    return lazy !== undefined || list?.includes('*')
      ? [`${target} *`]
      : listNames(list ?? '', 'before').map(name => `${target} ${name}`)
  })

test('every exported name is imported somewhere', () => {
  const importedNames = new Set([...allFiles, ...readModules('src')].flatMap(listImports))
  const exports = source.flatMap(listExports)
  assert.ok(exports.length > 2_000, 'exports are found')
  const unused = exports.filter(name => !importedNames.has(name) && !importedNames.has(name.replace(/ .*/, ' *')))
  assert.deepEqual(unused, [])
})

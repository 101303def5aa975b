import assert from 'node:assert/strict'
import { dirname, join, normalize } from 'node:path/posix'
import { test } from 'node:test'
import { readModules, readSources, type Source } from '../support/imports.ts'

const source = readSources('src')
const everything = [...source, ...readSources('client', 'simulator', 'seed', 'scenarios', 'bench', 'scripts', 'test')]

const exported = /^export (?:async )?(?:const|function\*?|class|interface|type) (?:[{[]([^}\]]*)[}\]]|([\w$]+))/gm
const imported = /^(?:import|export)\s([^'"`;]*?)\bfrom\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm

/**
 * Returns the names in a list such as `a, type B, c as d` or `{ e: f }`. For renamed entries returns the name before
 * or after.
 */
const namesIn = (list: string, side: 'before' | 'after') =>
  list
    .split(/[,{}]/)
    .map(name => name.replace(/^\s*(type\s)?/, '').trim())
    .map(name => (side === 'before' ? name.split(' as ')[0] : name.split(':').at(-1))?.trim() ?? '')
    .filter(Boolean)

/** Returns the exports of a file with their module. */
const exportsOf = ({ path, text }: Source) =>
  [...text.matchAll(exported)]
    .flatMap(([, list, name]) => (name === undefined ? namesIn(list ?? '', 'after') : [name]))
    .map(name => `${path} ${name}`)

/** Returns the imports of a file with their module; ` *` for a namespace import. */
const knownTo = ({ path, text }: Source) =>
  [...text.matchAll(imported)].flatMap(([, list, from, lazy]) => {
    const target = normalize(join(dirname(path), from ?? lazy ?? ''))
    return lazy !== undefined || list?.includes('*')
      ? [`${target} *`]
      : namesIn(list ?? '', 'before').map(name => `${target} ${name}`)
  })

test('every exported name is imported somewhere', () => {
  const importedNames = new Set([...everything, ...readModules('src')].flatMap(knownTo))
  const all = source.flatMap(exportsOf)
  assert.ok(all.length > 2_000, 'exports are found')
  const forNobody = all.filter(name => !importedNames.has(name) && !importedNames.has(name.replace(/ .*/, ' *')))
  assert.deepEqual(forNobody, [])
})

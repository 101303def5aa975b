import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A file of ours, by its path in the checkout, and what it says. */
export interface Source {
  path: string
  text: string
}

const filesOf = (patterns: string[]): Source[] =>
  globSync(patterns, { cwd: root })
    .sort()
    .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** Each TypeScript file of these folders. */
export const sourcesOf = (...folders: string[]) => filesOf(folders.map(folder => `${folder}/**/*.ts`))
/** Each module for browsers in this folder. */
export const modulesOf = (folder: string) => filesOf([`${folder}/**/*.js`])

const statement = /^(?:import|export)\s[^'"`;]*?\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm

/** The paths of our own files that a file imports, types included. */
export const importsOf = ({ path, text }: Source): string[] =>
  [...text.matchAll(statement)]
    .map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '')
    .filter(name => name.startsWith('.') && !name.endsWith('.json'))
    .map(name => normalize(join(dirname(path), name)))

/** Who imports whom. */
export type Arrows = ReadonlyMap<string, ReadonlySet<string>>

/** The arrows between what files belong to, for instance their folders; none from a place to itself. */
export function arrowsBetween(sources: readonly Source[], placeOf: (path: string) => string): Arrows {
  const arrows = new Map<string, Set<string>>()
  for (const source of sources) {
    const from = placeOf(source.path)
    const targets = importsOf(source).map(placeOf)
    arrows.set(from, new Set([...(arrows.get(from) ?? []), ...targets.filter(target => target !== from)]))
  }
  return arrows
}

/** A way that leads back to where it begins, however long; undefined where there is none. */
export function circleIn(arrows: Arrows): string[] | undefined {
  const settled = new Set<string>()
  const follow = (way: readonly string[]): string[] | undefined => {
    const here = way.at(-1) ?? ''
    const before = way.indexOf(here)
    if (before < way.length - 1) return way.slice(before)
    if (settled.has(here)) return
    for (const next of arrows.get(here) ?? []) {
      const circle = follow([...way, next])
      if (circle) return circle
    }
    settled.add(here)
    return
  }
  for (const start of arrows.keys()) {
    const circle = follow([start])
    if (circle) return circle
  }
  return
}

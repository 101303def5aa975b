import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A file of the repository: its path and its text. */
export interface Source {
  path: string
  text: string
}

const readFiles = (patterns: string[]): Source[] =>
  globSync(patterns, { cwd: root })
    .sort()
    .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** Each TypeScript file of these folders. */
export const readSources = (...folders: string[]) => readFiles(folders.map(folder => `${folder}/**/*.ts`))
/** Each module for browsers in this folder. */
export const readModules = (folder: string) => readFiles([`${folder}/**/*.js`])

const importStatement = /^(?:import|export)\s[^'"`;]*?\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm

/** The paths of our own files that a file imports, types included. */
export const findImports = ({ path, text }: Source): string[] =>
  [...text.matchAll(importStatement)]
    .map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '')
    .filter(name => name.startsWith('.') && !name.endsWith('.json'))
    .map(name => normalize(join(dirname(path), name)))

/** Which files or folders import which. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>

/** The arrows between what files belong to, for instance their folders; none from a place to itself. */
export function buildImportGraph(sources: readonly Source[], getNode: (path: string) => string): ImportGraph {
  const edges = new Map<string, Set<string>>()
  for (const source of sources) {
    const from = getNode(source.path)
    const targets = findImports(source).map(getNode)
    edges.set(from, new Set([...(edges.get(from) ?? []), ...targets.filter(target => target !== from)]))
  }
  return edges
}

/** Returns the nodes of a cycle, whose last equals its first. Returns undefined if there is no cycle. */
export function findCycle(edges: ImportGraph): string[] | undefined {
  const visited = new Set<string>()
  const follow = (path: readonly string[]): string[] | undefined => {
    const node = path.at(-1) ?? ''
    const before = path.indexOf(node)
    if (before < path.length - 1) return path.slice(before)
    if (visited.has(node)) return
    for (const next of edges.get(node) ?? []) {
      const cycle = follow([...path, next])
      if (cycle) return cycle
    }
    visited.add(node)
    return
  }
  for (const start of edges.keys()) {
    const cycle = follow([start])
    if (cycle) return cycle
  }
  return
}

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The path and text of a file of the repository. */
export interface Source {
  path: string
  text: string
}

const readFiles = (patterns: string[]): Source[] =>
  globSync(patterns, { cwd: root })
    .sort()
    .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** Returns the TypeScript files of folders. */
export const readSources = (...folders: string[]) => readFiles(folders.map(folder => `${folder}/**/*.ts`))
/** Returns the browser modules of a folder. */
export const readModules = (folder: string) => readFiles([`${folder}/**/*.js`])

const importStatement = /^(?:import|export)\s[^'"`;]*?\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm

/** Returns the paths of our own files that a file imports, including type imports. */
export const findImports = ({ path, text }: Source): string[] =>
  [...text.matchAll(importStatement)]
    .map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '')
    .filter(name => name.startsWith('.') && !name.endsWith('.json'))
    .map(name => normalize(join(dirname(path), name)))

/** The files or folders that each file or folder imports. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>

/** Builds the import graph of files, grouped into nodes by `getNode`, for instance their folders. Leaves out self-imports. */
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

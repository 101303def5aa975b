import { access, mkdir, readdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'

const kinds = ['customers', 'orders', 'rewards'] as const
export type ExportKind = (typeof kinds)[number]

/** A file that is whole. */
export interface ExportFile {
  kind: ExportKind
  name: string
  path: string
  /** Where its refused lines go. */
  rejected: string
  /** Moves it out of the way, for good. Returns where to. */
  leave(place: 'done' | 'failed'): Promise<string>
}

/** What the files of a folder looked like: name, and size with the time of the last change. */
export interface Look {
  folder: string
  files: ReadonlyMap<string, string>
}

/** `customers_20260203T101500Z.csv`; whoever writes a file may give it this name when it is whole. */
const form = /^(customers|orders|rewards)_[\w.-]*\.csv(\.gz)?$/i

/**
 * Looks into a folder. Complete is what looks as it did the last time; customers come first, since the others name them, and of each
 * kind the oldest name.
 */
export async function lookInto(folder: string, before: Look | undefined) {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter(entry => entry.isFile() && form.test(entry.name)).map(({ name }) => name)
  const files = new Map<string, string>()
  for (const name of names) {
    // It may just have gone.
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (found) files.set(name, `${found.size} ${found.mtimeMs}`)
  }
  const isWhole = (name: string) => before?.files.get(name) === files.get(name)
  const complete = [...files.keys()]
    .filter(isWhole)
    .map(name => fileIn(folder, name))
    .sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || (a.name < b.name ? -1 : 1))
  return { look: { folder, files }, complete, growing: complete.length < files.size }
}

function fileIn(folder: string, name: string): ExportFile {
  const kind = name.slice(0, name.indexOf('_')).toLowerCase() as ExportKind
  return {
    kind,
    name,
    path: join(folder, name),
    rejected: join(folder, 'failed', `${name}.rejected.csv`),
    async leave(place) {
      await mkdir(join(folder, place), { recursive: true })
      const target = await free(join(folder, place, name))
      await rename(join(folder, name), target)
      return target
    },
  }
}

/** The path, or one beside it where something is there: nothing that was kept is written over. */
async function free(path: string): Promise<string> {
  for (let i = 0; ; i++) {
    const candidate = i ? `${path}.${i}` : path
    const isThere = await access(candidate).then(
      () => true,
      () => false,
    )
    if (!isThere) return candidate
  }
}

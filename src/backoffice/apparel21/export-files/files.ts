import type { ExportPlace, Mark } from '../../../import/sources/export-source.ts'

const kinds = ['customers', 'orders', 'rewards'] as const
export type ExportKind = (typeof kinds)[number]

/** A file that is whole. */
export interface ExportFile {
  kind: ExportKind
  name: string
  mark: Mark
}

/** What the files of a place looked like, by their names. */
export type Look = ReadonlyMap<string, Mark>

/** `customers_20260203T101500Z.csv`; whoever writes a file may give it this name when it is whole. */
const form = /^(customers|orders|rewards)_[\w.-]{0,180}\.csv(\.gz)?$/i

/**
 * Looks into a place. Complete is what looks as it did the last time; customers come first, since the others name them, and of each
 * kind the oldest name.
 */
export async function lookInto(place: ExportPlace, before: Look | undefined) {
  const look = new Map<string, Mark>()
  for (const name of await place.names()) {
    const mark = form.test(name) ? await place.markOf(name) : undefined
    if (mark) look.set(name, mark)
  }
  const complete = [...look]
    .filter(([name, mark]) => isSame(before?.get(name), mark))
    .map(([name, mark]): ExportFile => ({ kind: kindOf(name), name, mark }))
    .sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || (a.name < b.name ? -1 : 1))
  return { look, complete, growing: complete.length < look.size }
}

export const isSame = (a: Mark | undefined, b: Mark | undefined) => a?.size === b?.size && a?.changedAt === b?.changedAt

const kindOf = (name: string) => name.slice(0, name.indexOf('_')).toLowerCase() as ExportKind

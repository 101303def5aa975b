import type { ExportFolder, FileVersion } from '../../../import/sources/export-source.ts'

const exportTypes = ['customers', 'orders', 'rewards'] as const
export type ExportType = (typeof exportTypes)[number]

export interface ExportFile {
  type: ExportType
  name: string
  version: FileVersion
}

/** The size and change time of each file, by name. */
export type FolderScan = ReadonlyMap<string, FileVersion>

/** For example `customers_20260203T101500Z.csv`. A writer can rename a complete file to this form. */
const fileNamePattern = /^(customers|orders|rewards)_[\w.-]{0,180}\.csv(\.gz)?$/i

/**
 * Scans a folder. A file is complete if it has not changed since the previous scan. Complete files are sorted by type, customers first
 * because the others refer to them, then by name.
 */
export async function scanFolder(folder: ExportFolder, previous: FolderScan | undefined) {
  const scan = new Map<string, FileVersion>()
  for (const name of await folder.listNames()) {
    const version = fileNamePattern.test(name) ? await folder.getVersion(name) : undefined
    if (version) scan.set(name, version)
  }
  const complete = [...scan]
    .filter(([name, version]) => isSameVersion(previous?.get(name), version))
    .map(([name, version]): ExportFile => ({ type: getType(name), name, version }))
    .sort((a, b) => exportTypes.indexOf(a.type) - exportTypes.indexOf(b.type) || (a.name < b.name ? -1 : 1))
  return { scan, complete, isGrowing: complete.length < scan.size }
}

export const isSameVersion = (a: FileVersion | undefined, b: FileVersion | undefined) =>
  a?.size === b?.size && a?.changedAt === b?.changedAt

const getType = (name: string) => name.slice(0, name.indexOf('_')).toLowerCase() as ExportType

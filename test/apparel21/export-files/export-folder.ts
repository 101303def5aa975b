import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns functions for a folder to which a back office writes its exports. */
export function openExportFolder(folder: string) {
  const pathTo = (...names: string[]) => join(folder, ...names)
  return {
    pathTo,
    listFolder: (subfolder: string) => (existsSync(pathTo(subfolder)) ? readdirSync(pathTo(subfolder)).sort() : []),
    /** Writes a file under a temporary name and renames it, so that an import never sees a part of it. */
    addFile(name: string, text: string) {
      writeFileSync(pathTo('.writing'), text)
      renameSync(pathTo('.writing'), pathTo(name))
    },
  }
}

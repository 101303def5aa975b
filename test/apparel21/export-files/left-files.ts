import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder that a back office leaves its exports in. */
export function filesLeftIn(folder: string) {
  const there = (...names: string[]) => join(folder, ...names)
  return {
    there,
    namesIn: (place: string) => (existsSync(there(place)) ? readdirSync(there(place)).sort() : []),
    /** Leaves a file as a careful back office does: under its name once it is whole. */
    leave(name: string, text: string) {
      writeFileSync(there('.writing'), text)
      renameSync(there('.writing'), there(name))
    },
  }
}

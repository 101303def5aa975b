import { importTypes } from 'tillbridge/import-types'

/**
 * How to import a file. `map`: the file's column for each of our columns. `constants`: the value of a column in every line. `isComplete`:
 * what the file lacks is removed, with `removesMost` even if it is more than half of the list.
 * @typedef {{
 *   type: string,
 *   fileFormat: import('./lines.js').FileFormat,
 *   map: Record<string, string>,
 *   constants: Record<string, string>,
 *   decimal: string,
 *   dateFormat: string,
 *   isComplete?: boolean,
 *   removesMost?: boolean,
 * }} Plan
 */

/**
 * A file to send. `lines`: its estimated number of lines. `corrects`: the dry run whose rejected lines, by number, this file corrects.
 * @typedef {{
 *   file: Blob & { name: string }, plan: Plan, profile: object, header: string[], lines: number, isDryRun: boolean,
 *   corrects?: { upload: Upload, numbers: Set<number> },
 * }} Upload
 */

/** Lines that were rejected for the same reason, with the first line numbers. @typedef {{ column: string, reason: string, lines: number, numbers: number[] }} RejectionGroup */

/** A rejected line: its original text, and its cells with corrections. @typedef {{ text: string, cells: string[], isEdited: boolean }} EditableLine */

/** Returns the profile for `tillbridge import --profile` and `POST /imports`. @param {Plan} plan @param {string[]} header */
export function toProfile({ type, fileFormat, map, constants, decimal, dateFormat }, header) {
  const mapped = new Set(Object.values(map))
  const { isJson, delimiter, encoding, isGuessed = false } = fileFormat
  return {
    type,
    map: Object.fromEntries(Object.entries(map).filter(([field, column]) => field !== column)),
    ignore: header.filter(name => name && !mapped.has(name)),
    // An empty value would clear the stored one.
    set: Object.fromEntries(Object.entries(constants).filter(([, value]) => value !== '')),
    ...(decimal ? { decimal } : {}),
    ...(dateFormat ? { dateFormat } : {}),
    ...(isJson ? {} : { delimiter: delimiter === '\t' ? 'tab' : delimiter }),
    ...(isJson || isGuessed ? {} : { encoding }),
  }
}

/**
 * Returns the profile for the URL of an upload. It ignores all unmapped columns with `*`, and names only those that match one of our
 * columns. In a file without a header the names are data, which must not be in a URL.
 * @param {Plan} plan @param {string[]} header
 */
export function toUploadProfile(plan, header) {
  const profile = toProfile(plan, header)
  const columns = importTypes[plan.type]?.columns ?? []
  const names = new Set(columns.flatMap(({ name, aliases = [] }) => [name, ...aliases]).map(name => name.toLowerCase()))
  return Object.assign(profile, { ignore: ['*', ...profile.ignore.filter(name => names.has(name.toLowerCase()))] })
}

/** The first columns of a file of rejected lines. The server recognises such a file by them. */
export const rejectionColumns = ['line', 'column', 'reason']
/** @param {string[]} names */
export const hasRejectionColumns = names => rejectionColumns.every((name, i) => names[i] === name)

import { importTypes } from 'tillbridge/import-types'
import { findTimedColumn } from './detect.js'

/**
 * How to import a file. `map`: the file's column for each of our columns. `constants`: the value of a column in every line. `timeColumn`: the
 * file's column with the time of day of the first mapped date with a time. `isComplete`:
 * what the file lacks is removed, with `removesMost` even if it is more than half of the list.
 * @typedef {{
 *   type: string,
 *   fileFormat: import('./lines.js').FileFormat,
 *   map: Record<string, string>,
 *   constants: Record<string, string>,
 *   decimal: string,
 *   dateFormat: string,
 *   timeColumn?: string | undefined,
 *   isComplete?: boolean,
 *   removesMost?: boolean,
 * }} Plan
 */

/**
 * A file to send. `lines`: its estimated number of lines. `corrects`: the dry run whose rejected lines, by number, this file corrects.
 * `remembered`: the profile to save for files with the same columns.
 * @typedef {{
 *   file: Blob & { name: string }, plan: Plan, profile: object, header: string[], lines: number, isDryRun: boolean,
 *   corrects?: { upload: Upload, numbers: Set<number> }, remembered?: SavedProfile | undefined,
 * }} Upload
 */

/** Lines that were rejected for the same reason, with the numbers of the first lines, and of all lines as ranges. @typedef {{ column: string, reason: string, lines: number, numbers: number[], ranges: [number, number][] }} RejectionGroup */

/** Returns all line numbers of a group. @param {RejectionGroup} group @returns {number[]} */
export const expandRanges = ({ ranges }) =>
  ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i))

/** A rejected line: its original text, and its cells with corrections. @typedef {{ text: string, cells: string[], isEdited: boolean }} EditableLine */

/** Returns the profile for `tillbridge import --profile` and `POST /imports`. @param {Plan} plan @param {string[]} header */
export function toProfile({ type, fileFormat, map, constants, decimal, dateFormat, timeColumn }, header) {
  const timedColumn = timeColumn && findTimedColumn(importTypes[type]?.columns ?? [], map)
  const mapped = new Set([...Object.values(map), ...(timedColumn ? [timeColumn] : [])])
  const { isJson, delimiter, encoding, isGuessed = false } = fileFormat
  return {
    type,
    map: Object.fromEntries(Object.entries(map).filter(([field, column]) => field !== column)),
    ignore: header.filter(name => name && !mapped.has(name)),
    // An empty value would clear the stored one.
    set: Object.fromEntries(Object.entries(constants).filter(([, value]) => value !== '')),
    ...(decimal ? { decimal } : {}),
    ...(dateFormat ? { dateFormat } : {}),
    ...(timedColumn ? { time: { [timedColumn]: timeColumn } } : {}),
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

/** A profile for files with the same columns. @typedef {{ header: string, type: string, profile: any, username?: string, savedAt?: string }} SavedProfile */

/** Identifies the columns of a file. The server stores no names of columns that aren't imported. @param {string[]} header */
export async function hashHeader(header) {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(header)))
  return [...new Uint8Array(digest)].map(byte => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Returns the plan of a saved profile, for a file with the same columns.
 * @param {SavedProfile} saved @param {Plan['fileFormat']} fileFormat @param {string[]} header
 * @param {import('tillbridge/import-types').Column[]} columns of the import type @returns {Plan}
 */
export function toPlan({ type, profile }, fileFormat, header, columns) {
  const { map = {}, ignore = [], set = {}, decimal = '', dateFormat = '', time = {} } = profile
  // A profile has no columns whose name in the file is their own.
  const own = columns.map(({ name }) => name).filter(name => header.includes(name) && !ignore.includes(name))
  const names = new Set(columns.map(({ name }) => name))
  const allowed = (/** @type {Record<string, string>} */ values) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)))
  return {
    type,
    fileFormat,
    map: { ...Object.fromEntries(own.map(name => [name, name])), ...allowed(map) },
    constants: allowed(set),
    decimal,
    dateFormat,
    timeColumn: Object.values(time)[0],
  }
}

/** The first columns of a file of rejected lines. The server recognises such a file by them. */
export const rejectionColumns = ['line', 'column', 'reason']
/** @param {string[]} names */
export const hasRejectionColumns = names => rejectionColumns.every((name, i) => names[i] === name)

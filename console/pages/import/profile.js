import { importTypes } from 'tillbridge/import-types'

/**
 * @typedef {{
 *   type: string,
 *   reading: import('./lines.js').Reading,
 *   from: Record<string, string>,
 *   set: Record<string, string>,
 *   decimal: string,
 *   dateFormat: string,
 * }} Plan how a file is to be taken in: `from` has the file's columns by ours, `set` what ours are in every line
 * @typedef {{
 *   file: Blob & { name: string }, plan: Plan, profile: object, header: string[], lines: number, isTrial: boolean,
 *   mends?: { sent: Sent, numbers: Set<number> },
 * }} Sent what is sent, and about how many lines it has; `mends`: what was only tried, and of which it has these lines, mended
 * @typedef {{ column: string, reason: string, lines: number, numbers: number[] }} Group lines that were rejected for one reason, with the first numbers
 * @typedef {{ text: string, cells: string[], isMended: boolean }} Kept a line as it was, and as it is to be
 */

/** The plan as `tillbridge import --profile` and `POST /imports` read it, to be kept. @param {Plan} plan @param {string[]} header */
export function toProfile({ type, reading, from, set, decimal, dateFormat }, header) {
  const used = new Set(Object.values(from))
  const { isJson, delimiter, encoding } = reading
  return {
    type,
    map: Object.fromEntries(Object.entries(from).filter(([ours, theirs]) => ours !== theirs)),
    ignore: header.filter(name => name && !used.has(name)),
    // One that says nothing would clear what is stored.
    set: Object.fromEntries(Object.entries(set).filter(([, value]) => value !== '')),
    ...(decimal ? { decimal } : {}),
    ...(dateFormat ? { dateFormat } : {}),
    ...(isJson ? {} : { delimiter: delimiter === '\t' ? 'tab' : delimiter, encoding }),
  }
}

/**
 * The same to be sent in a URL: of the columns that are left out it names only those that would be taken for one of ours. In a file
 * without a header the names are somebody's data, and there may be many.
 * @param {Plan} plan @param {string[]} header
 */
export function toUploadProfile(plan, header) {
  const profile = toProfile(plan, header)
  const columns = importTypes[plan.type]?.columns ?? []
  const known = new Set(columns.flatMap(({ name, titles = [] }) => [name, ...titles]).map(name => name.toLowerCase()))
  return Object.assign(profile, { ignore: ['*', ...profile.ignore.filter(name => known.has(name.toLowerCase()))] })
}

/** What a file of rejected lines has in front of each: by that it is known. */
export const rejectionColumns = ['line', 'column', 'reason']
/** @param {string[]} names */
export const hasRejectionColumns = names => rejectionColumns.every((name, i) => names[i] === name)

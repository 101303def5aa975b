import { kinds } from 'tillbridge/kinds'

/**
 * @typedef {{
 *   kind: string,
 *   reading: import('./lines.js').Reading,
 *   from: Record<string, string>,
 *   set: Record<string, string>,
 *   decimal: string,
 *   dateFormat: string,
 * }} Plan how a file is to be taken in: `from` has the file's columns by ours, `set` what ours are in every line
 * @typedef {{
 *   file: Blob & { name: string }, plan: Plan, profile: object, header: string[], lines: number, isTrial: boolean,
 * }} Sent what is sent, and about how many lines it has
 * @typedef {{ column: string, reason: string, lines: number, numbers: number[] }} Group lines that were refused for one reason, with the first numbers
 * @typedef {{ text: string, cells: string[], isMended: boolean }} Kept a line as it was, and as it is to be
 */

/** The plan as `tillbridge import --profile` and `POST /imports/:kind` read it, to be kept. @param {Plan} plan @param {string[]} header */
export function profileOf({ kind, reading, from, set, decimal, dateFormat }, header) {
  const used = new Set(Object.values(from))
  const { isJson, delimiter, encoding } = reading
  return {
    kind,
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
 * The same to be sent in a URL: without the names of columns that are left out. In a file without a header they are somebody's data, and
 * there may be many.
 * @param {Plan} plan @param {string[]} header
 */
export function sentProfileOf(plan, header) {
  const profile = profileOf(plan, header)
  const ours = new Set(kinds[plan.kind]?.columns.map(({ name }) => name))
  return Object.assign(profile, { ignore: ['*', ...profile.ignore.filter(name => ours.has(name))] })
}

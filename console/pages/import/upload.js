import { poll } from '../../components/poll.js'
import { callApi } from '../../lib/api.js'
import { expandRanges } from './profile.js'

/** @typedef {import('./profile.js').Upload} Upload */
/** @typedef {import('./profile.js').RejectionGroup} RejectionGroup */

/** Returns the uploads of an import in order. Corrected lines of a dry run follow their original file, which hasn't been imported yet. @param {Upload} upload @returns {Upload[]} */
export const listUploads = upload =>
  upload.corrects ? [...listUploads({ ...upload.corrects.upload, isDryRun: upload.isDryRun }), upload] : [upload]

/**
 * Adds the counts of two runs. The later run has corrected lines that the earlier one has rejected.
 * @param {any} first @param {any} second
 */
const addRuns = (first, second) => ({
  ...second,
  read: first.read,
  new: first.new + second.new,
  changed: first.changed + second.changed,
  unchanged: first.unchanged + second.unchanged,
  // Not negative: a line that the dry run rejected can be valid in the import, so it is counted twice.
  rejected: Math.max(0, first.rejected - second.read + second.rejected),
  seconds: Math.round((first.seconds + second.seconds) * 10) / 10,
  notes: [...first.notes, ...second.notes],
})

/** Removes corrected lines from the groups. @param {RejectionGroup[]} groups @param {Set<number>} [corrected] line numbers */
const removeCorrected = (groups, corrected = new Set()) =>
  groups
    .map(group => {
      const isOpen = (/** @type {number} */ number) => !corrected.has(number)
      const numbers = group.numbers.filter(isOpen)
      /** @type {[number, number][]} */
      const ranges = corrected.size
        ? expandRanges(group)
            .filter(isOpen)
            .map(number => [number, number])
        : group.ranges
      return { ...group, numbers, ranges, lines: group.lines - group.numbers.length + numbers.length }
    })
    .filter(({ lines }) => lines > 0)

/**
 * Uploads a file and waits for the end of its run. In an import, corrected lines are uploaded after their original file; in a dry run
 * alone. Returns the rejected lines of each file.
 * @param {Upload} upload @param {(run: any) => void} onProgress called with the counts so far @param {AbortSignal} signal
 */
export async function uploadAll(upload, onProgress, signal) {
  const uploads = upload.isDryRun ? [upload] : listUploads(upload)
  const rejected = []
  /** @type {any} */
  let total
  for (const [i, current] of uploads.entries()) {
    const previous = total
    const next = uploads[i + 1]
    const run = await uploadFile(
      current,
      progress => {
        total = previous ? addRuns(previous, progress) : progress
        onProgress({ ...total, isLast: !next })
      },
      signal,
    )
    const groups = run.rejected > 0 ? (await callApi(`/imports/${run.id}/rejected`, { signal })).data : []
    const isImported = run.state === 'ok'
    rejected.push({
      upload: current,
      groups: removeCorrected(groups, isImported ? next?.corrects?.numbers : undefined),
    })
    if (!isImported) break
  }
  return rejected.filter(({ groups }) => groups.length > 0)
}

/** Uploads one file and waits for the end of its run. @param {Upload} upload @param {(run: any) => void} onProgress @param {AbortSignal} signal */
async function uploadFile({ file, plan, profile, isDryRun }, onProgress, signal) {
  const type = plan.fileFormat.isJson ? 'application/x-ndjson' : 'text/csv'
  /** @type {Record<string, string>} */
  const headers = { 'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}` }
  if (isDryRun) headers.prefer = 'tx=rollback'
  const complete = plan.isComplete ? `&complete=true${plan.removesMost ? '&remove_most=true' : ''}` : ''
  const path = `/imports?type=${plan.type}${complete}&profile=${encodeURIComponent(JSON.stringify(profile))}`
  const { data } = await callApi(path, { method: 'POST', body: file.slice(0, file.size, type), headers, signal })
  return poll(data, `/imports/${data.id}`, { isOver: run => run.state !== 'running', onChange: onProgress, signal })
}

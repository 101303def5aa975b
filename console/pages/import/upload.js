import { poll } from '../../components/poll.js'
import { callApi } from '../../lib/api.js'

/** @typedef {import('./profile.js').Sent} Sent */
/** @typedef {import('./profile.js').Group} Group */

/** What is sent, behind the file whose lines it has mended, if that was only tried. @param {Sent} sent @returns {Sent[]} */
export const listUploads = sent =>
  sent.mends ? [...listUploads({ ...sent.mends.sent, isTrial: sent.isTrial }), sent] : [sent]

/**
 * What two runs come to where the later one has lines that the earlier one has rejected.
 * @param {any} before @param {any} run
 */
const addRuns = (before, run) => ({
  ...run,
  read: before.read,
  new: before.new + run.new,
  changed: before.changed + run.changed,
  unchanged: before.unchanged + run.unchanged,
  // A line that was rejected in the trial may have been good before it was mended: it is in twice.
  rejected: Math.max(0, before.rejected - run.read + run.rejected),
  seconds: Math.round((before.seconds + run.seconds) * 10) / 10,
  notes: [...before.notes, ...run.notes],
})

/** What is left of rejected lines without those that are mended. @param {Group[]} groups @param {Set<number>} [mended] */
const removeCorrected = (groups, mended = new Set()) =>
  groups
    .map(group => {
      const numbers = group.numbers.filter(number => !mended.has(number))
      return { ...group, numbers, lines: group.lines - group.numbers.length + numbers.length }
    })
    .filter(({ lines }) => lines > 0)

/**
 * Sends a file and waits until it is in - one with mended lines alone where it is a trial, or else behind the whole one -; what it comes
 * to is told on the way. Returns what was rejected, file by file.
 * @param {Sent} sent @param {(run: any) => void} tell @param {AbortSignal} signal
 */
export async function uploadAll(sent, tell, signal) {
  const files = sent.isTrial ? [sent] : listUploads(sent)
  const rejected = []
  /** @type {any} */
  let all
  for (const [i, file] of files.entries()) {
    const before = all
    const next = files[i + 1]
    const run = await upload(
      file,
      of => {
        all = before ? addRuns(before, of) : of
        tell({ ...all, isLast: !next })
      },
      signal,
    )
    const groups = run.rejected > 0 ? (await callApi(`/imports/${run.id}/rejected`, { signal })).data : []
    const isIn = run.state === 'ok'
    rejected.push({ file, groups: removeCorrected(groups, isIn ? next?.mends?.numbers : undefined) })
    if (!isIn) break
  }
  return rejected.filter(({ groups }) => groups.length > 0)
}

/** Sends a file and waits until it is in. @param {Sent} sent @param {(run: any) => void} tell @param {AbortSignal} signal */
async function upload({ file, plan, profile, isTrial }, tell, signal) {
  const type = plan.reading.isJson ? 'application/x-ndjson' : 'text/csv'
  /** @type {Record<string, string>} */
  const headers = isTrial ? { prefer: 'tx=rollback' } : {}
  const path = `/imports?type=${plan.type}&profile=${encodeURIComponent(JSON.stringify(profile))}`
  const { data } = await callApi(path, { method: 'POST', body: file.slice(0, file.size, type), headers, signal })
  return poll(data, `/imports/${data.id}`, { isOver: of => of.state !== 'running', tell, signal })
}

import { formatDuration } from '../../components/format.js'
import { describeSync } from '../syncs/runs.js'
import { describeWebhook } from '../webhooks/health.js'

/**
 * A problem that the current state shows. `key` equals that of an alert about the same sync or webhook. `action`: a button that retries.
 * @typedef {{
 *   key: string, title: string, detail?: string | undefined, tone: import('../../components/format.js').Tone,
 *   route: string[], action?: { label: string, role: string, path: string, body: object } | undefined,
 * }} Problem
 */

/** A file's rejected lines are a problem for this long, because no later run removes them. */
const importProblemMs = 24 * 3_600_000

/**
 * Finds the problems that need attention now. Alerts come later, after several failures.
 * @param {{ syncs?: any[] | undefined, webhooks?: any[] | undefined, breaker?: string | null | undefined }} state
 * @returns {Problem[]}
 */
export const findProblems = ({ syncs = [], webhooks = [], breaker }) => [
  ...(breaker === 'open'
    ? [
        /** @type {Problem} */ ({
          key: 'back office',
          title: "The back office isn't responding",
          detail: 'Calls to it are paused. Tillbridge tries again every few seconds.',
          tone: 'bad',
          route: ['syncs'],
        }),
      ]
    : []),
  ...syncs.flatMap(findSyncProblem),
  ...webhooks.flatMap(findWebhookProblem),
]

/** @param {any} sync @returns {Problem[]} */
function findSyncProblem(sync) {
  const { sync: name, origin, isOverdue, lagSeconds, intervalSeconds, lastRun } = sync
  const { state, tone } = describeSync(sync)
  const isFile = lastRun?.origin === 'file'
  const isOld = isFile && Date.now() - Date.parse(lastRun.startedAt) > importProblemMs
  if ((tone !== 'bad' && tone !== 'warn') || sync.state === 'running' || (isOld && !isOverdue)) return []
  const title = isOverdue
    ? `${name} is late: ${lagSeconds === null ? 'never synced' : `${formatDuration(lagSeconds)} old`}, due every ${formatDuration(intervalSeconds)}`
    : `${isFile ? 'Import' : 'Sync'} of ${name}: ${state}`
  const notes = lastRun?.notes.map((/** @type {any} */ { note, count }) => `${count} × ${note}`).join('; ')
  return [
    {
      key: `sync ${name}`,
      title,
      detail: sync.detail ?? notes,
      tone,
      route: ['syncs', name],
      action:
        origin === 'backOffice'
          ? {
              label: 'Sync now',
              role: 'maintainer',
              path: `/syncs/${encodeURIComponent(name)}/run`,
              body: { full: false },
            }
          : undefined,
    },
  ]
}

/** @param {any} webhook @returns {Problem[]} */
function findWebhookProblem(webhook) {
  const { id, url, lag, lastFailure, stateReason } = webhook
  const { state, tone } = describeWebhook(webhook)
  if (tone === 'good') return []
  const details = [
    stateReason ?? lastFailure?.detail,
    lag.seconds > 0 && `Changes have been waiting for ${formatDuration(lag.seconds)}.`,
  ]
  return [
    {
      key: `webhook ${id}`,
      title: `Webhook ${url}: ${state}`,
      detail: details.filter(Boolean).join(' '),
      tone,
      route: ['webhooks', id],
      action:
        webhook.state === 'paused'
          ? undefined
          : { label: 'Retry now', role: 'admin', path: `/webhooks/${encodeURIComponent(id)}/resume`, body: {} },
    },
  ]
}

import { useEffect, useState } from 'preact/hooks'
import { platformImportTypes } from 'tillbridge/mappings'
import { Action } from '../../components/action.js'
import { Timestamp } from '../../components/format.js'
import { fastPollIntervalMs, poll, wait } from '../../components/poll.js'
import { isUserActive } from '../../lib/activity.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { rich, t } from '../../lib/text.js'

const path = '/mappings/check'
/** @param {any[]} kinds */
const isOver = kinds => !kinds.some(({ isRunning }) => isRunning)

/** Interval of the requests while no check is running. */
const pollIntervalMs = 5_000

/**
 * Loads the status of the mapping check, and polls it while the page is visible.
 * @param {number} version loads again if it changes
 * @param {() => void} onChecked called when a check has ended
 * @returns {{ kinds?: any[], error?: unknown }}
 */
export function useMappingStatus(version, onChecked) {
  const [result, setResult] = useState(/** @type {{ kinds?: any[], error?: unknown }} */ ({}))
  useEffect(() => {
    const control = new AbortController()
    const { signal } = control
    /** @type {string | undefined} */
    let lastCheckedAt
    const onChange = (/** @type {any[]} */ kinds) => {
      if (signal.aborted) return
      setResult({ kinds })
      const checkedAt = kinds.map(kind => kind.checkedAt).join()
      lastCheckedAt ??= checkedAt
      if (isOver(kinds) && checkedAt !== lastCheckedAt) onChecked()
    }
    const pause = async (/** @type {any[]} */ kinds) => {
      if (!isOver(kinds)) return wait(fastPollIntervalMs)
      do await wait(pollIntervalMs)
      while (!isUserActive() && !signal.aborted)
    }
    callApi(path, { signal })
      .then(({ data }) => poll(data, path, { isOver: () => false, onChange, pause, signal }))
      .catch(error => signal.aborted || setResult(previous => ({ ...previous, error })))
    return () => control.abort()
  }, [version])
  return result
}

/** The name of the platform items of each kind. */
const itemNames = { stores: t('locations'), skus: t('SKUs'), customers: t('customers') }

/** @param {{ kinds: any[], kind: import('tillbridge/mappings').MappedKind, check: () => Promise<void> }} props */
export function CheckStatus({ kinds, kind, check }) {
  const { listed, listedAt, checkedAt } = kinds.find(one => one.kind === kind)
  return html`<div class="check-status">
    <p class="note">
      ${
        listedAt
          ? rich('{listed} {items} on the platform, as of {time}.', {
              listed,
              items: itemNames[kind],
              time: html`<${Timestamp} time=${listedAt} />`,
            })
          : rich('No platform file yet: <link>import</link> its export as <code>{type}</code>.', {
              type: platformImportTypes[kind],
              link: content => html`<a href=${linkTo('import', platformImportTypes[kind])}>${content}</a>`,
            })
      }
      ${' '}${checkedAt ? rich('Checked {time}.', { time: html`<${Timestamp} time=${checkedAt} />` }) : t('Not checked yet.')} <${Action} label="Check now" role="admin" work=${check} />
    </p>
    ${!isOver(kinds) && html`<${Progress} kinds=${kinds} />`}
  </div>`
}

/** @param {{ kinds: any[] }} props */
function Progress({ kinds }) {
  const sum = (/** @type {'done' | 'total'} */ field) =>
    kinds.reduce((subtotal, { progress }) => subtotal + (progress?.[field] ?? 0), 0)
  const [done, total] = [sum('done'), sum('total')]
  const count = total > 0 && t('{done} of {total} records', { done, total })
  return html`<p><span role="status">${total ? t('Checking…') : t('Queued. The check starts when a worker is free.')}</span> ${count}</p>
    <progress aria-label="Progress" max=${Math.max(total, 1)} value=${total ? done : undefined}></progress>`
}

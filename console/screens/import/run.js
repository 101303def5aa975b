import { useEffect, useState } from 'preact/hooks'
import { ask } from '../../ground/api.js'
import { html } from '../../ground/html.js'
import { linkTo } from '../../ground/route.js'
import { follow } from '../../parts/follow.js'
import { Facts, State } from '../../parts/format.js'
import { Problem } from '../../parts/problem.js'
import { runTone } from '../feeds/run.js'
import { Refused } from './refused.js'

/** @typedef {import('./profile.js').Sent} Sent */

/** Sends a file and waits until it is in; what it comes to is told on the way. @param {Sent} sent @param {(run: any) => void} tell @param {AbortSignal} signal */
async function takeIn({ file, plan, profile, isTrial }, tell, signal) {
  const type = plan.reading.isJson ? 'application/x-ndjson' : 'text/csv'
  /** @type {Record<string, string>} */
  const headers = isTrial ? { prefer: 'tx=rollback' } : {}
  const path = `/imports/${plan.kind}?profile=${encodeURIComponent(JSON.stringify(profile))}`
  const { data } = await ask(path, { method: 'POST', body: file.slice(0, file.size, type), headers, signal })
  const run = await follow(data, `/imports/${data.id}`, { isOver: of => of.state !== 'running', tell, signal })
  return run.refused > 0 ? (await ask(`/imports/${run.id}/rejected`, { signal })).data : []
}

/**
 * A file on its way in, or what became of it.
 * @param {{ sent: Sent, again: (sent: Sent) => void, back: () => void }} props
 */
export function Run({ sent, again, back }) {
  const [run, setRun] = useState(/** @type {any} */ (undefined))
  const [groups, setGroups] = useState(/** @type {any[]} */ ([]))
  const [error, setError] = useState(/** @type {unknown} */ (undefined))
  useEffect(() => {
    const gone = new AbortController()
    takeIn(sent, setRun, gone.signal).then(setGroups, fault => gone.signal.aborted || setError(fault))
    return () => gone.abort()
  }, [])
  const { plan, isTrial, lines, file } = sent
  const isOver = error || (run && run.state !== 'running')
  return html`<section aria-label="What became of it" aria-live="polite">
    <h2>${isTrial ? 'Trial' : 'Import'}: ${file.name}, as ${plan.kind}</h2>
    ${error && html`<${Problem} error=${error} />`}
    ${
      !isOver &&
      html`<div class="card">
        <p>${run ? `${run.read.toLocaleString('en')} of about ${lines.toLocaleString('en')} lines` : 'Sending the file…'}</p>
        <progress aria-label="How far it has come" max=${Math.max(lines, run?.read ?? 0, 1)} value=${run ? run.read : undefined}></progress>
        ${run && html`<p class="note">It goes on when you leave this page: it is a run of <a href=${linkTo('feeds', plan.kind)}>the feed ${plan.kind}</a>.</p>`}
      </div>`
    }
    ${isOver && run && html`<${Outcome} run=${run} sent=${sent} />`}
    ${groups.length > 0 && html`<${Refused} groups=${groups} sent=${sent} again=${again} />`}
    ${
      isOver &&
      html`<p class="choices">
        ${isTrial && run?.state === 'ok' && html`<button class="main" onClick=${() => again(Object.assign({}, sent, { isTrial: false }))}>Import</button>`}
        <button onClick=${back}>Back to the columns</button>
      </p>`
    }
  </section>`
}

/** @param {{ run: any, sent: Sent }} props */
function Outcome({ run, sent: { isTrial, plan } }) {
  const figure = (/** @type {number} */ count) => html`<b>${count.toLocaleString('en')}</b>`
  const good = run.read - run.refused
  return html`<div class="card">
    <${Facts}
      facts=${[
        ['State', html`<${State} state=${run.state} tone=${runTone(run.state)} />`],
        ['Lines read', figure(run.read)],
        ...(isTrial
          ? [['Good', figure(good)]]
          : [
              ['New', figure(run.new)],
              ['Changed', figure(run.changed)],
              ['Unchanged', figure(run.unchanged)],
            ]),
        ['Refused', figure(run.refused)],
        ['Took', `${run.seconds} s`],
      ]}
    />
    ${run.detail && html`<p class="detail">${run.detail}</p>`}
    ${run.notes.map((/** @type {any} */ { note, count }) => html`<p key=${note} class="note">${count} × ${note}</p>`)}
    ${isTrial ? html`<p class="note">Nothing was written.</p>` : html`<p class="note">It is a run of <a href=${linkTo('feeds', plan.kind)}>the feed ${plan.kind}</a>.</p>`}
  </div>`
}

import { useEffect, useState } from 'preact/hooks'
import { Facts, State } from '../../components/format.js'
import { Problem } from '../../components/problem.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { runTone } from '../syncs/runs.js'
import { RejectedLines } from './rejected.js'
import { listUploads, uploadAll } from './upload.js'

/** @typedef {import('./profile.js').Sent} Sent */
/** @typedef {import('./profile.js').Group} Group */

/**
 * A file on its way in, or what became of it.
 * @param {{ sent: Sent, again: (sent: Sent) => void, back: () => void }} props
 */
export function Run({ sent, again, back }) {
  const [run, setRun] = useState(/** @type {any} */ (undefined))
  const [rejected, setRejected] = useState(/** @type {{ file: Sent, groups: Group[] }[] | undefined} */ (undefined))
  const [error, setError] = useState(/** @type {unknown} */ (undefined))
  useEffect(() => {
    const gone = new AbortController()
    uploadAll(sent, setRun, gone.signal).then(setRejected, fault => gone.signal.aborted || setError(fault))
    return () => gone.abort()
  }, [])
  const { plan, isTrial } = sent
  const { file, lines } = isTrial ? sent : (listUploads(sent)[0] ?? sent)
  const isOver = error || rejected
  return html`<section aria-label="What became of it" aria-live="polite">
    <h2>${isTrial ? 'Trial' : 'Import'}: ${file.name}, as ${plan.type}</h2>
    ${error && html`<${Problem} error=${error} />`}
    ${
      !isOver &&
      html`<div class="card">
        <p>${run ? `${run.read.toLocaleString('en')} of about ${lines.toLocaleString('en')} lines` : 'Sending the file…'}</p>
        <progress aria-label="How far it has come" max=${Math.max(lines, run?.read ?? 0, 1)} value=${run ? run.read : undefined}></progress>
        ${run && html`<p class="note">${run.isLast ? 'It goes on when you leave this page: it' : 'Stay on this page: what was mended is sent once the file is in. It'} is a run of <a href=${linkTo('syncs', plan.type)}>the sync ${plan.type}</a>.</p>`}
      </div>`
    }
    ${isOver && run && html`<${Outcome} run=${run} sent=${sent} />`}
    ${rejected?.map(({ file, groups }, i) => html`<${RejectedLines} key=${i} groups=${groups} sent=${file} again=${again} />`)}
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
function Outcome({ run, sent }) {
  const { isTrial, plan, mends } = sent
  const figure = (/** @type {number} */ count) => html`<b>${count.toLocaleString('en')}</b>`
  const good = run.read - run.rejected
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
        ['Rejected', figure(run.rejected)],
        ['Took', `${run.seconds} s`],
      ]}
    />
    ${run.detail && html`<p class="detail">${run.detail}</p>`}
    ${run.notes.map((/** @type {any} */ { note, count }, /** @type {number} */ i) => html`<p key=${i} class="note">${count} × ${note}</p>`)}
    ${isTrial ? html`<p class="note">Nothing was written.${mends && ` Import takes in all of ${listUploads(sent)[0]?.file.name}, and then these lines as they are mended.`}</p>` : html`<p class="note">It is a run of <a href=${linkTo('syncs', plan.type)}>the sync ${plan.type}</a>.</p>`}
  </div>`
}

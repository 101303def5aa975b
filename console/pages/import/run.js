import { useEffect, useRef, useState } from 'preact/hooks'
import { assessImport } from 'tillbridge/health'
import { Facts, Health, withoutCode } from '../../components/format.js'
import { Problem } from '../../components/problem.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'
import { formatNumber, rich, t } from '../../lib/text.js'
import { RejectedLines } from './rejected.js'
import { nameType } from './type-names.js'
import { listUploads, uploadAll } from './upload.js'

/** @typedef {import('./profile.js').Upload} Upload */
/** @typedef {import('./profile.js').RejectionGroup} RejectionGroup */

/**
 * The progress and the result of an import or a dry run.
 * @param {{ upload: Upload, send: (upload: Upload) => void, back: () => void }} props
 */
export function Run({ upload, send, back }) {
  const [run, setRun] = useState(/** @type {any} */ (undefined))
  const [rejected, setRejected] = useState(
    /** @type {{ upload: Upload, groups: RejectionGroup[] }[] | undefined} */ (undefined),
  )
  const [error, setError] = useState(/** @type {unknown} */ (undefined))
  /** Builds the upload of corrections that have not been sent yet. */
  const corrected = useRef(/** @type {(() => Upload) | undefined} */ (undefined))
  useEffect(() => {
    const control = new AbortController()
    uploadAll(upload, setRun, control.signal).then(setRejected, reason => control.signal.aborted || setError(reason))
    return () => control.abort()
  }, [])
  const { plan, isDryRun } = upload
  const { file, lines } = isDryRun ? upload : (listUploads(upload)[0] ?? upload)
  const isOver = error || rejected
  const keptNote = run?.notes.find((/** @type {any} */ { note }) => note.includes('more than half of the list'))
  const syncLink = html`<a href=${linkTo('syncs', plan.type)}>${plan.type}</a>`
  return html`<section aria-label="Result" aria-live="polite">
    <h2>${isDryRun ? t('Dry run') : t('Import')}: ${file.name} → ${nameType(plan.type)}</h2>
    ${error && html`<${Problem} error=${error} />`}
    ${
      !isOver &&
      html`<div class="card">
        <p>${run ? t('{read} of about {lines} lines', { read: run.read, lines }) : t('Sending the file…')}</p>
        <progress aria-label="Progress" max=${Math.max(lines, run?.read ?? 0, 1)} value=${run ? run.read : undefined}></progress>
        ${run && !isDryRun && html`<p class="note">${run.isLast ? rich('You can leave this page. The result will be in the sync history of {link}.', { link: syncLink }) : t('Keep this page open until your corrections are sent.')}</p>`}
      </div>`
    }
    ${isOver && run && html`<${Result} run=${run} upload=${upload} syncLink=${syncLink} />`}
    ${rejected?.map(({ upload: sent, groups }, i) => html`<${RejectedLines} key=${i} groups=${groups} upload=${sent} send=${send} corrected=${corrected} />`)}
    ${
      isOver &&
      html`<p class="choices">
        ${isDryRun && run?.state === 'ok' && html`<button class="main" onClick=${() => send(Object.assign({}, corrected.current?.() ?? upload, { isDryRun: false }))}>Import</button>`}
        ${
          keptNote &&
          html`<button class="danger" onClick=${() => send({ ...upload, plan: { ...plan, removesMost: true } })}>${isDryRun ? t('Dry run that also removes these {records}', { records: keptNote.count }) : t('Import that also removes these {records}', { records: keptNote.count })}</button>`
        }
        <button onClick=${back}>Back to the columns</button>
      </p>`
    }
  </section>`
}

/** The list of each import type that has one. @type {Record<string, string>} */
const importedLists = {
  customers: 'customers',
  orders: 'orders',
  products: 'products',
  staff: 'staff',
  stock: 'stock',
  stores: 'stores',
  transactions: 'sales',
  vouchers: 'vouchers',
}

/** @param {{ run: any, upload: Upload, syncLink: any }} props */
function Result({ run, upload, syncLink }) {
  const { isDryRun, corrects, plan } = upload
  const screen = importedLists[plan.type]
  const formatCount = (/** @type {number} */ count) => html`<b>${formatNumber(count)}</b>`
  return html`<div class="card">
    <${Facts}
      facts=${[
        [t('State'), html`<${Health} ...${assessImport(run, isDryRun)} />`],
        [t('Lines read'), formatCount(run.read)],
        ...(isDryRun
          ? [[t('Valid'), formatCount(run.read - run.rejected)]]
          : [
              [t('New'), formatCount(run.new)],
              [t('Changed'), formatCount(run.changed)],
              [t('Unchanged'), formatCount(run.unchanged)],
            ]),
        ...(run.removed ? [[isDryRun ? t('To be removed') : t('Removed'), formatCount(run.removed)]] : []),
        [t('Rejected'), formatCount(run.rejected)],
        [t('Duration'), t('{count} s', { count: run.seconds })],
      ]}
    />
    ${run.read > 0 && html`<span class="share" aria-hidden="true">${run.rejected < run.read && html`<i class="good" style=${{ flexGrow: run.read - run.rejected }}></i>`}${run.rejected > 0 && html`<i class="bad" style=${{ flexGrow: run.rejected }}></i>`}</span>`}
    ${run.detail && html`<p class="detail">${withoutCode(run.detail)}</p>`}
    ${run.notes.map((/** @type {any} */ { note, count }, /** @type {number} */ i) => html`<p key=${i} class="note">${count} × ${note}</p>`)}
    ${
      isDryRun
        ? html`<p class="note">${corrects ? t('Nothing was written. Import sends {name} and then these corrected lines.', { name: listUploads(upload)[0]?.file.name }) : t('Nothing was written.')}</p>`
        : html`<p class="note">${screen && html`<a href=${linkTo(screen)}>${t('View the records')}</a> · `}${rich('View the sync history of {link}', { link: syncLink })}</p>`
    }
  </div>`
}

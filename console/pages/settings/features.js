import { settings } from 'tillbridge/settings'
import { renderCode } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { t } from '../../lib/text.js'
import { getTitle } from './groups.js'

/** @typedef {{ name: string, reason?: string }} Feature */

/** Returns the settings that the reason of a missing feature names. @param {Feature} feature */
const getSettings = ({ reason = '' }) =>
  [...reason.matchAll(/`(\w+)`/g)].flatMap(([, name = '']) => (Object.hasOwn(settings, name) ? [name] : []))

/**
 * The missing features: those that a setting adds, and apart from them those that the back office can't have.
 * @param {{ version: string | null, show: (setting: string) => void }} props
 */
export function MissingFeatures({ version, show }) {
  const { data } = useLoad(signal => callApi('/capabilities', { signal }), [version])
  /** @type {Feature[]} */
  const missing = (data?.data.capabilities ?? []).filter((/** @type {any} */ { available }) => !available)
  const settable = missing.filter(feature => getSettings(feature).length > 0)
  const limits = missing.filter(feature => getSettings(feature).length === 0)
  const backOffice = data?.data.backOffice
  return html`${
    settable.length > 0 &&
    html`<section class="card" aria-label="To set up">
      <h2>${t('To set up ({features})', { features: settable.length })}</h2>
      <ul class="todo">
        ${settable.map(
          feature => html`<li key=${feature.name}><b>${getTitle(feature.name)}</b> ${renderCode(feature.reason)}
            ${getSettings(feature).map(name => html` <button key=${name} class="quiet" onClick=${() => show(name)}>${t('Set {setting}', { setting: getTitle(name) })}</button>`)}</li>`,
        )}
      </ul>
    </section>`
  }
  ${
    limits.length > 0 &&
    html`<details class="card">
      <summary>${backOffice.driver === 'embedded' ? t("Features that the embedded back office can't have: {count}", { count: limits.length }) : t("Features that {driver} {release} can't have: {count}", { driver: backOffice.driver, release: backOffice.release ?? '', count: limits.length })}</summary>
      <ul class="todo">${limits.map(({ name, reason }) => html`<li key=${name}><b>${getTitle(name)}</b> ${renderCode(reason)}</li>`)}</ul>
    </details>`
  }`
}

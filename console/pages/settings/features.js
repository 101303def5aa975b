import { settings } from 'tillbridge/settings'
import { renderCode } from '../../components/problem.js'
import { useLoad } from '../../components/use-load.js'
import { callApi } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { nameDriver } from '../../lib/states.js'
import { t } from '../../lib/text.js'
import { getTitle } from './groups.js'

/** @typedef {{ name: string, reason?: string }} Feature */

/** The names of features whose words are not enough. @type {Record<string, string>} */
const names = {
  customersUpdatedAfter: t('Customers by time of change'),
  customerWrites: t('Creating and changing customers'),
  signUpStore: t('Sign-up store'),
  smsSubscriptionMapping: t('SMS subscription mapping'),
  voucherNumberAtSale: t('Voucher number at the sale'),
  vouchersIssue: t('Issuing gift vouchers'),
}

/** @param {Feature} feature */
const getName = ({ name }) => names[name] ?? getTitle(name)

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
      <h2 class="small-title">${t('To set up ({features})', { features: settable.length })}</h2>
      <ul class="todo">
        ${settable.map(
          feature => html`<li key=${feature.name}>
            <p><b>${getName(feature)}</b> ${renderCode(feature.reason)}</p>
            <p class="choices">${getSettings(feature).map(name => html`<button key=${name} aria-label=${t('Set {setting}', { setting: getTitle(name) })} onClick=${() => show(name)}>${getTitle(name)}</button>`)}</p>
          </li>`,
        )}
      </ul>
    </section>`
  }
  ${
    limits.length > 0 &&
    html`<details class="card">
      <summary>${backOffice.driver === 'embedded' ? t("Features that the embedded back office can't have: {count}", { count: limits.length }) : t("Features that {driver} {release} can't have: {count}", { driver: nameDriver(backOffice.driver), release: backOffice.release ?? '', count: limits.length })}</summary>
      <ul class="todo">${limits.map(feature => html`<li key=${feature.name}><b>${getName(feature)}</b> ${renderCode(feature.reason)}</li>`)}</ul>
    </details>`
  }`
}

import { useEffect, useState } from 'preact/hooks'
import { settings } from 'tillbridge/settings'
import { Button } from '../components/button.js'
import { useLeaveGuard } from '../components/leave-guard.js'
import { Problem } from '../components/problem.js'
import { showToast } from '../components/toast.js'
import { useLoad } from '../components/use-load.js'
import { callApi } from '../lib/api.js'
import { html } from '../lib/html.js'
import { linkTo } from '../lib/route.js'
import { plural, t } from '../lib/text.js'
import { MissingFeatures } from './settings/features.js'
import { GroupIndex } from './settings/group-index.js'
import { getTitle, groupSettings } from './settings/groups.js'
import { Review } from './settings/review.js'
import { Setting } from './settings/setting.js'

/** Scrolls to a setting and focuses it. @param {string} name */
function showSetting(name) {
  const input = document.getElementById(`setting-${name}`)
  input?.scrollIntoView({ block: 'center' })
  input?.focus({ preventScroll: true })
}

/** The settings of the service. Changes are previewed before they are saved. */
export function Screen() {
  const { data, error, busy, reload } = useLoad(signal => callApi('/settings', { signal }), [])
  const [changes, setChanges] = useState(/** @type {Record<string, unknown>} */ ({}))
  const [errors, setErrors] = useState(/** @type {Record<string, string>} */ ({}))
  const [rejection, setRejection] = useState(/** @type {string | undefined} */ (undefined))
  const [reviewing, setReviewing] = useState(false)
  const [filter, setFilter] = useState('')
  const [discards, setDiscards] = useState(0)
  const count = Object.keys(changes).length
  const guard = useLeaveGuard(
    count > 0,
    plural(count, '{count} unsaved change is lost if you leave.', '{count} unsaved changes are lost if you leave.'),
  )
  // After the dialog has returned the focus to its button.
  useEffect(() => {
    if (rejection === undefined) return
    showSetting(rejection)
    setRejection(undefined)
  }, [rejection])
  if (error) return html`<h1>Settings</h1><${Problem} error=${error} />`
  if (!data) return html`<p class="opening" role="status">Loading…</p>`

  const current = data.data
  const values = { ...current, ...changes }
  /** @param {string} name @param {unknown} value */
  const change = (name, value) => {
    const { [name]: _, ...otherChanges } = changes
    const { [name]: __, ...otherErrors } = errors
    setErrors(otherErrors)
    setChanges(
      JSON.stringify(value) === JSON.stringify(current[name])
        ? otherChanges
        : Object.assign(otherChanges, { [name]: value }),
    )
  }
  // A new key resets each input to the current value.
  const discard = () => {
    setChanges({})
    setErrors({})
    setDiscards(discards + 1)
  }
  const matches = (/** @type {string} */ name) =>
    `${name} ${getTitle(name)} ${settings[name]?.description}`.toLowerCase().includes(filter.toLowerCase())
  const groups = groupSettings(Object.keys(settings))
    .map(([title, names]) => /** @type {const} */ ([title, names.filter(matches)]))
    .filter(([, names]) => names.length > 0)
  return html`<h1>Settings</h1>
    <p class="lead">Changes are previewed before they're saved.</p>
    <${MissingFeatures} version=${data.tag} show=${showSetting} />
    <div class="indexed">
    <${GroupIndex} groups=${groups} filter=${filter} setFilter=${setFilter} />
    <div class="groups">
    ${groups.map(
      ([title, names]) => html`<section key=${title} aria-label=${title} tabindex="-1">
        <h2>${title}</h2>
        <div class="settings">
          ${names.map(
            name => html`<${Setting}
              key=${`${name} ${discards} ${data.tag}`}
              name=${name}
              schema=${settings[name]}
              value=${values[name]}
              settings=${values}
              changed=${name in changes}
              error=${errors[name]}
              change=${(/** @type {unknown} */ value) => change(name, value)}
            />`,
          )}
        </div>
      </section>`,
    )}
    ${groups.length === 0 && html`<div class="empty">No matching settings</div>`}
    </div>
    </div>
    ${guard}
    <div class=${`save-bar${count ? ' active' : ''}`} role="region" aria-label="Changes">
      <span role="status">${count > 0 ? plural(count, '{count} unsaved change', '{count} unsaved changes') : t('No changes')}</span>
      ${count > 0 && html`<button class="quiet" onClick=${discard}>Discard</button>`}
      ${count > 0 && html`<${Button} class="main" label=${plural(count, 'Review {count} change', 'Review {count} changes')} busy=${busy} onClick=${() => setReviewing(true)} />`}
    </div>
    ${
      reviewing &&
      html`<${Review}
        changes=${changes}
        before=${current}
        tag=${data.tag}
        close=${() => setReviewing(false)}
        reject=${(/** @type {Record<string, string>} */ rejected) => {
          setReviewing(false)
          setErrors(rejected)
          setRejection(Object.keys(rejected)[0])
        }}
        done=${() => {
          setReviewing(false)
          setChanges({})
          showToast(plural(count, '{count} setting saved', '{count} settings saved'), {
            title: t('View in audit log'),
            route: linkTo('audit'),
          })
          reload()
        }}
      />`
    }`
}

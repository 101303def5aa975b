import { useState } from 'preact/hooks'
import { kinds } from 'tillbridge/changes'
import { SubmitButton } from '../../components/button.js'
import { Checkbox, Field, onSubmit } from '../../components/field.js'
import { useAction } from '../../components/use-load.js'
import { html } from '../../lib/html.js'
import { t } from '../../lib/text.js'

/** Returns the selected kinds in the API's order. @param {string[]} chosen */
const sortKinds = chosen => kinds.filter(kind => chosen.includes(kind))

/** Returns only the changed values, so that a save doesn't overwrite another account's changes. @param {any} record @param {Record<string, unknown>} values */
const pickChanges = (record, values) =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(record[name])),
  )

/**
 * The URL, description and event types of an endpoint.
 * @param {{ endpoint?: any, save: (body: object) => Promise<unknown>, isNew?: boolean }} props
 */
export function EndpointForm({ endpoint, save, isNew = false }) {
  const [url, setUrl] = useState(endpoint?.url ?? '')
  const [description, setDescription] = useState(endpoint?.description ?? '')
  const [chosen, setChosen] = useState(/** @type {string[]} */ (endpoint?.kinds ?? []))
  const [fromBeginning, setFromBeginning] = useState(false)
  const { busy, error, run } = useAction()
  const values = { url, description: description || null, kinds: chosen.length ? sortKinds(chosen) : kinds }
  const send = onSubmit(() => run(() => save(isNew ? { ...values, fromBeginning } : pickChanges(endpoint, values))))
  /** @param {string} kind @param {boolean} isChosen */
  const choose = (kind, isChosen) =>
    setChosen(isChosen ? [...chosen, kind] : chosen.filter(chosenKind => chosenKind !== kind))
  return html`<form onSubmit=${send}>
    <${Field} label="URL" type="url" required placeholder="https://shop.example/hooks" value=${url} change=${setUrl} hint="Must be a public HTTPS URL" />
    <${Field} label="Description" maxlength="250" value=${description} change=${setDescription} />
    <fieldset>
      <legend>Event types <small>${chosen.length ? '' : t('(none selected = all)')}</small></legend>
      <div class="ticks">
        ${kinds.map(
          kind =>
            html`<${Checkbox} key=${kind} label=${kind} checked=${chosen.includes(kind)} change=${(/** @type {boolean} */ isChosen) => choose(kind, isChosen)} />`,
        )}
      </div>
    </fieldset>
    ${isNew && html`<${Checkbox} label="Send all existing records first" checked=${fromBeginning} change=${setFromBeginning} />`}
    <${SubmitButton} label="Save" busyLabel="Saving…" busy=${busy} error=${error} />
  </form>`
}

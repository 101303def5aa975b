import { useState } from 'preact/hooks'
import { kinds } from 'tillbridge/changes'
import { SubmitButton } from '../../components/button.js'
import { Checkbox, Field, onSubmit } from '../../components/field.js'
import { useAction } from '../../components/use-load.js'
import { html } from '../../lib/html.js'

/** In their own order, as the API has them. @param {string[]} chosen */
const sortKinds = chosen => kinds.filter(kind => chosen.includes(kind))

/** What somebody has changed of a record: the rest may be another one's by now. @param {any} record @param {Record<string, unknown>} said */
const pickChanges = (record, said) =>
  Object.fromEntries(
    Object.entries(said).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(record[name])),
  )

/**
 * What an endpoint is: its address and what it is told of.
 * @param {{ endpoint?: any, save: (body: object) => Promise<unknown>, isNew?: boolean }} props
 */
export function EndpointForm({ endpoint, save, isNew = false }) {
  const [url, setUrl] = useState(endpoint?.url ?? '')
  const [description, setDescription] = useState(endpoint?.description ?? '')
  const [chosen, setChosen] = useState(/** @type {string[]} */ (endpoint?.kinds ?? []))
  const [fromBeginning, setFromBeginning] = useState(false)
  const { busy, error, run } = useAction()
  const said = { url, description: description || null, kinds: chosen.length ? sortKinds(chosen) : kinds }
  const send = onSubmit(() => run(() => save(isNew ? { ...said, fromBeginning } : pickChanges(endpoint, said))))
  /** @param {string} kind @param {boolean} on */
  const choose = (kind, on) => setChosen(on ? [...chosen, kind] : chosen.filter(each => each !== kind))
  return html`<form onSubmit=${send}>
    <${Field} label="URL" type="url" required placeholder="https://shop.example/hooks" value=${url} change=${setUrl} hint="HTTPS, reachable from here." />
    <${Field} label="Description" maxlength="250" value=${description} change=${setDescription} />
    <fieldset>
      <legend>Told of <small>${chosen.length ? '' : '(none ticked: everything)'}</small></legend>
      <div class="ticks">
        ${kinds.map(
          kind =>
            html`<${Checkbox} key=${kind} label=${kind} checked=${chosen.includes(kind)} change=${(/** @type {boolean} */ on) => choose(kind, on)} />`,
        )}
      </div>
    </fieldset>
    ${isNew && html`<${Checkbox} label="Begin with everything as it stands" checked=${fromBeginning} change=${setFromBeginning} />`}
    <${SubmitButton} label="Save" doing="Saving…" busy=${busy} error=${error} />
  </form>`
}

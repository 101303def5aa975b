import { useState } from 'preact/hooks'
import { html } from '../lib/html.js'
import { useHasRole } from '../lib/role.js'
import { Button } from './button.js'
import { Dialog } from './dialog.js'
import { Problem } from './problem.js'
import { useAction } from './use-load.js'

/**
 * A button for who may. With `confirm` it says what will happen, and asks.
 * @param {{ label: string, name?: string, role: string, work: () => Promise<unknown>, confirm?: unknown, main?: boolean, danger?: boolean }} props `name`: what it is called where several have the label
 */
export function Action({ label, name, role, work, confirm, main = false, danger = false }) {
  const may = useHasRole(role)
  const [asking, setAsking] = useState(false)
  const { busy, error, run } = useAction()
  if (!may) return null
  const style = main ? 'main' : danger ? 'danger' : ''
  const act = () =>
    run(async () => {
      await work()
      setAsking(false)
    })
  return html`<${Button} class=${style} label=${label} aria-label=${name} busy=${busy} onClick=${confirm ? () => setAsking(true) : act} />
    ${
      asking &&
      html`<${Dialog} title=${name ?? label} close=${() => setAsking(false)}>
        <p>${confirm}</p>
        ${error && html`<${Problem} error=${error} />`}
        <p class="choices">
          <${Button} class=${danger ? 'danger' : 'main'} label=${label} busy=${busy} onClick=${act} />
          <button onClick=${() => setAsking(false)}>Cancel</button>
        </p>
      <//>`
    }
    ${!asking && error && html`<${Problem} error=${error} />`}`
}

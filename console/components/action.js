import { useState } from 'preact/hooks'
import { html } from '../lib/html.js'
import { useHasRole } from '../lib/role.js'
import { Button } from './button.js'
import { Dialog } from './dialog.js'
import { Problem } from './problem.js'
import { showToast } from './toast.js'
import { useAction } from './use-load.js'

/**
 * A button that is shown only to a role. With `confirm` it explains the effect and asks for confirmation.
 * @param {{ label: string, name?: string, title?: string, role: string, work: () => Promise<unknown>, done?: string, confirm?: unknown, main?: boolean, danger?: boolean }} props `name`: the accessible name, if several buttons have the same label; `title`: of the confirmation; `done`: the confirmation of success
 */
export function Action({
  label,
  name,
  title = name ?? label,
  role,
  work,
  done,
  confirm,
  main = false,
  danger = false,
}) {
  const isAllowed = useHasRole(role)
  const [isConfirming, setConfirming] = useState(false)
  const { busy, error, run } = useAction()
  if (!isAllowed) return null
  const style = main ? 'main' : danger ? 'danger' : ''
  const act = () =>
    run(async () => {
      await work()
      setConfirming(false)
      if (done) showToast(done)
    })
  return html`<${Button} class=${style} label=${label} aria-label=${name} busy=${busy} onClick=${confirm ? () => setConfirming(true) : act} />
    ${
      isConfirming &&
      html`<${Dialog} title=${title} close=${() => setConfirming(false)}>
        <p>${confirm}</p>
        ${error && html`<${Problem} error=${error} />`}
        <p class="choices">
          <${Button} class=${danger ? 'danger' : 'main'} label=${label} busy=${busy} autofocus=${!danger} onClick=${act} />
          <button autofocus=${danger} onClick=${() => setConfirming(false)}>Cancel</button>
        </p>
      <//>`
    }
    ${!isConfirming && error && html`<${Problem} error=${error} />`}`
}

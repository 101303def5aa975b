import { useState } from 'preact/hooks'
import { SubmitButton } from '../../components/button.js'
import { Choice, Field, onSubmit } from '../../components/field.js'
import { useAction } from '../../components/use-load.js'
import { html } from '../../lib/html.js'

/** From where an endpoint is told again. @param {{ rewind: (to: string) => Promise<unknown> }} props */
export function ReplayForm({ rewind }) {
  const [to, setTo] = useState('time')
  const [time, setTime] = useState('')
  const { busy, error, run } = useAction()
  const send = onSubmit(() => run(() => rewind(to === 'beginning' ? to : new Date(time).toISOString())))
  return html`<form onSubmit=${send}>
    <p>A record that has changed several times since then is told of once, as it stands now.</p>
    <${Choice} label="From" value=${to} change=${setTo} options=${[['time', 'a time'], ['beginning', 'the beginning: everything']]} />
    ${to === 'time' && html`<${Field} label="Time (your clock)" type="datetime-local" required value=${time} change=${setTime} />`}
    <${SubmitButton} label="Rewind" doing="Rewinding…" busy=${busy} error=${error} />
  </form>`
}

import { useState } from 'preact/hooks'
import { SubmitButton } from '../../components/button.js'
import { Choice, Field, onSubmit } from '../../components/field.js'
import { useAction } from '../../components/use-load.js'
import { html } from '../../lib/html.js'
import { t } from '../../lib/text.js'

/** The start of a replay. @param {{ replay: (to: string) => Promise<unknown> }} props */
export function ReplayForm({ replay }) {
  const [to, setTo] = useState('time')
  const [time, setTime] = useState('')
  const { busy, error, run } = useAction()
  const send = onSubmit(() => run(() => replay(to === 'beginning' ? to : new Date(time).toISOString())))
  return html`<form onSubmit=${send}>
    <p>Each record that has changed since then is sent once, in its current state.</p>
    <${Choice} label="From" value=${to} change=${setTo} options=${[['time', t('a time')], ['beginning', t('the beginning (all records)')]]} />
    ${to === 'time' && html`<${Field} label="Time (your time zone)" type="datetime-local" required value=${time} change=${setTime} />`}
    <${SubmitButton} label="Replay" busyLabel="Saving…" busy=${busy} error=${error} />
  </form>`
}

import type { Alert } from '../store/alerts/alerts.ts'
import { html } from './html.ts'

/** What an alert says, to whoever looks after a service. */
export function alertMail(service: string, { detail }: Alert) {
  const advice = 'All alerts that are not settled: tillbridge alert list'
  return {
    subject: `${service}: something has to be looked at`,
    text: `${detail}\n\n${advice}\n`,
    html: html`<!doctype html><html lang="en"><body><p>${detail}</p><p>${advice}</p></body></html>`.text,
  }
}

import { alertKinds, remedyFor } from '../domain/alerts.ts'
import type { Alert } from '../store/alerts/alerts.ts'
import { html } from './html.ts'

/**
 * Renders the email about an alert: the problem, what happened, what to do, and a link to the console. `consoleUrl` is absent if the
 * process doesn't know the installation's URL.
 */
export function renderAlertEmail(service: string, { kind, subject: record, detail }: Alert, consoleUrl?: string) {
  const title = alertKinds[kind].title.replaceAll('{subject}', () => record)
  const remedy = remedyFor({ kind, subject: record, service }).replaceAll('`', '')
  const link = consoleUrl && `${consoleUrl}#${kind.startsWith('webhook_') ? `webhooks/${record}` : 'overview'}`
  const reason = `You receive this because alertEmail of the service ${service} is set to this address.`
  return {
    subject: `[Tillbridge] ${service}: ${title}`,
    text: [detail, `What to do: ${remedy}`, ...(link ? [`Open in the console: ${link}`] : []), reason, ''].join('\n\n'),
    html: html`<!doctype html><html lang="en"><body><p>${detail}</p><p><strong>What to do:</strong> ${remedy}</p>${
      link ? html`<p><a href="${link}">Open in the console</a></p>` : ''
    }<p>${reason}</p></body></html>`.text,
  }
}

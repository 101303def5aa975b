import { type AlertKind, alertKinds, getRemedy } from '../domain/alerts.ts'
import type { Alert } from '../store/alerts/alerts.ts'
import { html, raw } from './html.ts'

/**
 * Renders the email about an alert: the problem, the details, what to do, and links to the console and to the runbook. `publicUrl` is
 * absent if the process doesn't know the installation's URL.
 */
export function renderAlertEmail(service: string, { kind, subject: record, detail }: Alert, publicUrl?: string) {
  const title = alertKinds[kind].title.replaceAll('{subject}', () => record)
  const remedy = getRemedy({ kind, subject: record, service }).replaceAll('`', '')
  const links: [label: string, url: string][] = publicUrl
    ? [
        ['Open in the console', `${publicUrl}/console#/${encodeURIComponent(service)}/${getScreen(kind, record)}`],
        ['Runbook', `${publicUrl}/docs/operate/runbooks#${kind}`],
      ]
    : []
  const ending = alertKinds[kind].autoResolves
    ? 'The alert resolves automatically when its cause is fixed.'
    : `Resolve the alert in the console, or with: tillbridge alert resolve ${kind} --service ${service}`
  const reason = `You receive this because alertEmail of the service ${service} is set to this address.`
  return {
    subject: `[Tillbridge] ${service}: ${title}`,
    text: [detail, `What to do: ${remedy}`, ending, ...links.map(link => link.join(': ')), reason, ''].join('\n\n'),
    html: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${styles}</style>
</head>
<body style="margin: 24px; max-width: 600px; font: 16px/1.55 ${raw(fonts)}; overflow-wrap: anywhere">
<h1 style="margin: 0 0 12px; font-size: 20px; line-height: 1.3">${title}</h1>
<p>${detail}</p>
<p><strong>What to do:</strong> ${remedy}</p>
<p>${ending}</p>
${links.reduce((all, [label, url]) => html`${all}<p><a href="${url}">${label}</a></p>`, html``)}
<p style="font-size: 13px">${reason}</p>
</body>
</html>
`.text,
  }
}

const styles = raw(`
:root { color-scheme: light dark }
body { background: #ffffff; color: #1d2b2a }
a { color: #14524a }
@media (prefers-color-scheme: dark) { body { background: #101716; color: #e8efed } a { color: #9ccdc1 } }
`)

const fonts = "-apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"

/** Returns the console's screen that shows the cause of an alert. Its route has the first two parts of the API path with details. */
function getScreen(kind: Alert['kind'], record: string) {
  const { path = '/overview' }: AlertKind = alertKinds[kind]
  return path
    .split('/')
    .slice(1, 3)
    .join('/')
    .replace('{subject}', () => encodeURIComponent(record))
}

import { createHash } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { escapeHtml } from '../../domain/values/html.ts'
import { type ErrorCode, errorCodes } from '../../errors/api-error.ts'
import { findErrorGuide } from './error-guides.ts'

/** Returns the HTML page that the `type` of a problem links to: the meaning of the error and its remedy. */
export function renderErrorPage(code: ErrorCode): string {
  const { status, title, remedy } = errorCodes[code]
  const guide = findErrorGuide(code)
  const byStatus = Map.groupBy(Object.keys(errorCodes) as ErrorCode[], errorCode => errorCodes[errorCode].status)
  const sections = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(
      ([groupStatus, codes]) =>
        `<dt>${groupStatus} ${escapeHtml(STATUS_CODES[groupStatus] ?? '')}</dt><dd>${codes.map(listed => renderLink(listed, code)).join(' ')}</dd>`,
    )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(code)} · Tillbridge</title>
<style>${style}</style>
</head>
<body>
<main>
<p class="status"><b>${status}</b> ${escapeHtml(STATUS_CODES[status] ?? '')}</p>
<h1>${escapeHtml(code)}</h1>
<p class="title">${renderProse(title)}</p>
<h2>What to do</h2>
<p>${renderProse(remedy)}</p>
<p>Guide: <a href="../docs/${guide.path}">${escapeHtml(guide.title)}</a>. Example: <a href="../docs/reference/errors#${code}">Errors</a>. <a href="../docs/api">API reference</a>.</p>
</main>
<nav aria-label="All errors">
<h2>All errors</h2>
<dl>${sections.join('')}</dl>
</nav>
</body>
</html>
`
}

/** The page has no script, and only the style that its hash allows. */
export const buildErrorPageHeaders = () => ({
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
})

/** Escapes text and marks code in backquotes as such. */
const renderProse = (text: string) => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')

// Relative, so that the pages work below any path of a proxy.
const renderLink = (code: ErrorCode, current: ErrorCode) =>
  `<a href="${encodeURIComponent(code)}"${code === current ? ' aria-current="page"' : ''}>${escapeHtml(code)}</a>`

const style = `
:root{color-scheme:light dark;--ink:#1c2024;--soft:#60646c;--paper:#fcfcfd;--panel:#f0f0f3;--line:#d9d9e0;--mark:#b4471f}
@media(prefers-color-scheme:dark){:root{--ink:#edeef0;--soft:#b0b4ba;--paper:#111113;--panel:#1d1e21;--line:#363a3f;--mark:#ff9a66}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:46rem;padding:clamp(1.5rem,6vw,4.5rem) 1.25rem;background:var(--paper);color:var(--ink);font:1rem/1.6 ui-sans-serif,system-ui,sans-serif}
h1{margin:0 0 .5rem;font:600 clamp(1.4rem,5vw,2.2rem)/1.2 ui-monospace,monospace;overflow-wrap:anywhere}
h2{margin:2.2rem 0 .4rem;font-size:.85rem;letter-spacing:.06em;text-transform:uppercase;color:var(--soft)}
p{margin:.4rem 0 1rem}
.status{margin:0 0 .6rem;color:var(--soft)}
.status b{margin-right:.4rem;padding:.15rem .55rem;border-radius:1rem;background:var(--mark);color:var(--paper)}
.title{font-size:1.2rem}
code{padding:.1em .35em;border-radius:.3rem;background:var(--panel);font:.9em ui-monospace,monospace;overflow-wrap:anywhere}
a{color:var(--mark);text-underline-offset:.2em}
nav{margin-top:3rem;border-top:1px solid var(--line)}
dl{display:grid;grid-template-columns:minmax(9rem,auto) 1fr;gap:.5rem 1.2rem;margin:0;font-size:.9rem}
dt{color:var(--soft)}
dd{margin:0;display:flex;flex-wrap:wrap;gap:.1rem .9rem}
dd a{font-family:ui-monospace,monospace;text-decoration:none}
dd a:hover,dd a:focus-visible{text-decoration:underline}
dd a[aria-current]{color:inherit;font-weight:600}
@media(max-width:34rem){dl{grid-template-columns:1fr}dt{margin-top:.6rem}}
`

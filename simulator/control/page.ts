import { countRecords } from '../shop/shop.ts'
import type { Simulator } from './handle.ts'

const escapeHtml = (value: unknown) =>
  String(value).replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c)

function buildTable(headings: readonly string[], rows: readonly (readonly unknown[])[], emptyText: string): string {
  if (!rows.length) return `<p class="none">${emptyText}</p>`
  const head = headings.map(heading => `<th>${escapeHtml(heading)}</th>`).join('')
  const body = rows
    .map(row => `<tr>${row.map(value => `<td>${escapeHtml(value ?? '')}</td>`).join('')}</tr>`)
    .join('\n')
  return `<table>${head && `<thead><tr>${head}</tr></thead>`}<tbody>\n${body}\n</tbody></table>`
}

const style = `body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:68rem;padding:0 1rem;color:#1c1c1c;background:#fff}
h1{font-size:1.4rem}h2{font-size:1.05rem;margin:2rem 0 .5rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #ddd;vertical-align:top}
th{font-weight:600}td{font-variant-numeric:tabular-nums;overflow-wrap:anywhere}.none{color:#666}code{font-size:.9em}
@media (prefers-color-scheme:dark){body{color:#e6e6e6;background:#181818}th,td{border-color:#444}.none{color:#aaa}}`

/** Builds the status page: data, active faults and recent requests. */
export function buildStatePage(simulator: Simulator): string {
  const { settings, clock, faults, ledger, state, url } = simulator
  const time = clock.state()
  const facts: [string, unknown][] = [
    ['Base', url],
    ['Release', settings.release],
    ['Back-office time', `${time.wall.replace('T', ' ')} (${settings.zone}${time.frozen ? ', frozen' : ''})`],
    ['Credentials', settings.credentials ? `Basic, user ${settings.credentials.user}` : 'not required'],
    ['Countries', settings.countries.map(country => `${country.code} (${country.currency})`).join(', ')],
  ]
  const calls = ledger.calls
    .slice(-30)
    .reverse()
    .map(call => [
      call.at.slice(11, 19),
      call.method,
      call.path,
      call.status ?? call.outcome,
      call.errorCode,
      call.faults.join(', '),
      call.effects.join(', '),
    ])
  const effects = ledger.effects
    .slice(-20)
    .reverse()
    .map(effect => [
      effect.at.slice(11, 19),
      effect.kind,
      effect.id,
      effect.request ?? 'back-office staff',
      JSON.stringify(effect.facts),
    ])
  const activeFaults = faults.list().map(fault => {
    const { id, kind, method = 'any', path = 'any', matchCount, times, probability, ...options } = fault
    return [
      id,
      kind,
      method,
      path,
      times === undefined ? matchCount : `${matchCount} of ${times}`,
      probability,
      JSON.stringify(options),
    ]
  })
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Apparel21 simulator</title><style>${style}</style></head>
<body>
<h1>Apparel21 simulator</h1>
${buildTable([], facts, '')}
<h2>Records</h2>
${buildTable(['Records', 'Count'], Object.entries(countRecords(state)), '')}
<h2>Faults</h2>
${buildTable(['Id', 'Kind', 'Method', 'Path', 'Requests', 'Probability', 'Options'], activeFaults, 'No faults.')}
<h2>Last requests</h2>
${buildTable(['UTC', 'Method', 'Path', 'Response', 'Error', 'Faults', 'Effects'], calls, 'None yet.')}
<h2>Last effects</h2>
${buildTable(['UTC', 'Effect', 'Id', 'Request', 'Facts'], effects, 'None yet.')}
<p>JSON: <code>/_simulator/state</code>, <code>settings</code>, <code>clock</code>, <code>faults</code>, <code>ledger</code>, <code>changes</code>, <code>vouchers</code>, <code>mail</code>, <code>reset</code>, <code>down</code>, <code>export/customers.csv</code>.</p>
</body>
</html>
`
}

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Answered, type Panel, type Span, type Step, timesOf } from './panels.ts'
import { ticksOf, told } from './units.ts'

const uplot = (file: string) => readFileSync(fileURLToPath(new URL(file, import.meta.resolve('uplot'))), 'utf8')
const style = readFileSync(new URL('dashboard.css', import.meta.url), 'utf8')
const draw = readFileSync(new URL('draw.js', import.meta.url), 'utf8')

/** Grafana's, of dark themes, in its order. */
const colours = [
  '#73bf69',
  '#f2cc0c',
  '#8ab8ff',
  '#ff780a',
  '#f2495c',
  '#5794f2',
  '#b877d9',
  '#cca300',
  '#37872d',
  '#fade2a',
  '#447ebc',
  '#c15c17',
  '#e0b400',
  '#96d98d',
  '#ff9830',
  '#ca95e5',
]
const colourOf = (i: number) => colours[i % colours.length] ?? ''
/** A legend of more would leave no room for the lines: Grafana's scrolls. */
const [most, some] = [10, 8]

const safe = (text: string) => text.replace(/[&<>"]/g, each => `&#${each.charCodeAt(0)};`)
const clock = (seconds: number) => new Date(seconds * 1_000).toISOString().slice(11, 19)

/** As Grafana counts: 24 columns, and rows of 30 px with 8 between them. */
const place = ({ x, y, w, h }: Panel['gridPos']) => `grid-area: ${y + 1} / ${x + 1} / span ${h} / span ${w}`

/** The colour of the last step that a value has come to. */
const reached = (steps: readonly Step[], value: number) =>
  steps.findLast(step => step.value === null || step.value <= value)?.color ?? 'text'

function stat({ lines, panel }: Answered): string {
  const { unit, thresholds } = defaultsOf(panel)
  const figures = lines.map(({ name, values }) => {
    const last = values.findLast(value => value !== null) ?? 0
    return `<div><strong style="color: var(--${reached(thresholds?.steps ?? [], last)})">${told(unit, last)}</strong><span>${safe(name)}</span></div>`
  })
  return `<div class="stat">${figures.join('')}</div>`
}

function legend({ lines }: Answered): string {
  const shown = lines.slice(0, lines.length > most ? some : most)
  const names = shown.map(({ name }, i) => `<li><i style="background: ${colourOf(i)}"></i>${safe(name)}</li>`)
  if (shown.length < lines.length) names.push(`<li>and ${lines.length - shown.length} more</li>`)
  return `<ul>${names.join('')}</ul>`
}

const defaultsOf = ({ title, fieldConfig }: Panel) => {
  if (!fieldConfig) throw new Error(`${title} has no unit.`)
  return fieldConfig.defaults
}

/** What uPlot draws of a panel; all that is thought about is thought about here. */
function chartOf({ panel, lines }: Answered) {
  const { unit } = defaultsOf(panel)
  const ticks = ticksOf(unit, Math.max(...lines.flatMap(({ values }) => values.map(value => value ?? 0))) || 1)
  const labels = ticks.map(tick => told(unit, tick))
  return { lines: lines.map(({ values }, i) => ({ values, colour: colourOf(i) })), ticks, labels }
}

function box(answered: Answered): string {
  const { panel, lines } = answered
  const where = `style="${place(panel.gridPos)}"`
  if (panel.type === 'row') return `<h2 ${where}>${safe(panel.title)}</h2>`
  const kinds: Record<string, () => string> = {
    stat: () => stat(answered),
    timeseries: () => `<div class="chart"></div>${legend(answered)}`,
  }
  const inside = kinds[panel.type]
  if (!inside) throw new Error(`${panel.title}: a ${panel.type} is a panel that is not drawn.`)
  return `<section ${where}><h3>${safe(panel.title)}</h3>${lines.length ? inside() : '<p>No data</p>'}</section>`
}

/** The dashboard as a page. */
export function pageOf(answered: readonly Answered[], span: Span): string {
  const charts = answered.filter(({ panel, lines }) => panel.type === 'timeseries' && lines.length).map(chartOf)
  return `<!doctype html><meta charset="utf-8"><title>Tillbridge</title>
<style>${uplot('uPlot.min.css')}${style}</style>
<header><h1>Tillbridge</h1><span>${clock(span.start)} to ${clock(span.end)} UTC</span></header>
<main>${answered.map(box).join('\n')}</main>
<script>${uplot('uPlot.iife.min.js')}</script>
<script>${draw}
draw(${JSON.stringify(timesOf(span))}, ${JSON.stringify(charts)})</script>`
}

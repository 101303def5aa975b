import { readFileSync } from 'node:fs'
import type { Prometheus } from '../../test/support/prometheus/prometheus.ts'

/** A panel as the file has it: of what Grafana knows, all that the file says. */
export interface Panel {
  type: string
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  fieldConfig?: { defaults: { unit: string; min: number; thresholds?: { steps: Step[] } } }
  targets?: { expr: string; legendFormat: string; instant?: boolean }[]
}

/** From this value on it has this colour; null: from the least on. */
export interface Step {
  value: number | null
  color: string
}

/** What one panel shows. */
export interface Answered {
  panel: Panel
  lines: { name: string; values: (number | null)[] }[]
}

/** The times that are looked at, in seconds since 1970. */
export interface Span {
  start: number
  end: number
  step: number
}

interface Found {
  metric: Record<string, string>
  values: [seconds: number, value: string][]
}

const file = new URL('../../deploy/grafana/tillbridge.json', import.meta.url)

/** `{{label}}` stands for the label's value, as in Grafana. */
const nameOf = (legend: string, labels: Record<string, string>) =>
  legend.replace(/\{\{(\w+)\}\}/g, (_, label) => labels[label] ?? '')

export const timesOf = ({ start, end, step }: Span) =>
  Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, i) => start + i * step)

/** Asks the queries of each panel of the file, as Grafana does: for lines at these times, for figures at the end, and rates over `rateInterval`. */
export async function askPanels(prometheus: Prometheus, span: Span, rateInterval: string): Promise<Answered[]> {
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as { panels: Panel[] }
  const times = timesOf(span)
  const during = { start: `${span.start}`, end: `${span.end}`, step: `${span.step}` }
  const now = { ...during, start: during.end }
  const answered: Answered[] = []
  for (const panel of panels) {
    const lines: Answered['lines'] = []
    for (const { expr, legendFormat, instant } of panel.targets ?? []) {
      const query = expr.replaceAll('$__rate_interval', rateInterval)
      const { result } = await prometheus.ask<{ result: Found[] }>('query_range', {
        query,
        ...(instant ? now : during),
      })
      for (const { metric, values } of result) {
        const at = new Map(values.map(([time, value]) => [time, Number(value)]))
        const told = times.map(time => at.get(time))
        lines.push({
          name: nameOf(legendFormat, metric),
          values: told.map(value => (value !== undefined && Number.isFinite(value) ? value : null)),
        })
      }
    }
    answered.push({ panel, lines })
  }
  return answered
}

import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

/** Result of a part of the bench, as Markdown. */
export interface Section {
  title: string
  /** How it was measured, in a few sentences. */
  about: string
  tables: Table[]
  targets: Target[]
}

export interface Table {
  caption: string
  head: readonly string[]
  rows: readonly (readonly string[])[]
}

export interface Target {
  label: string
  expected: string
  actual: string
  met: boolean
}

export const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** Returns the median item by `by`, so that its numbers belong together. */
export const medianBy = <T>(values: readonly T[], by: (value: T) => number) =>
  [...values].sort((a, b) => by(a) - by(b))[values.length >> 1] as T

export const whole = (value: number) => (Number.isNaN(value) ? '-' : Math.round(value).toLocaleString('en-US'))
export const tenths = (value: number) => (Number.isNaN(value) ? '-' : value.toFixed(value < 10 ? 2 : 1))
export const percent = (value: number) => `${Math.round(value * 100)} %`

/** Prints a section and saves it, unless `save` is false. */
export async function publish(name: string, section: Section, facts: readonly string[], { save = true } = {}) {
  const text = [
    `# ${section.title}`,
    section.about,
    ...section.tables.map(({ caption, head, rows }) => `## ${caption}\n\n${markdown(head, rows)}`),
    ...(section.targets.length
      ? [`## Targets\n\n${markdown(['target', 'wanted', 'found', ''], section.targets.map(outcome))}`]
      : []),
    `## Measured on\n\n${facts.map(fact => `- ${fact}`).join('\n')}`,
  ].join('\n\n')
  console.log(`\n${text}\n`)
  if (!save) return
  const folder = new URL('../results/', import.meta.url)
  await mkdir(folder, { recursive: true })
  await writeFile(new URL(`${name}.md`, folder), `${text}\n`)
}

const outcome = ({ label, expected, actual, met }: Target) => [label, expected, actual, met ? 'met' : '**missed**']

/** Formats a table that is also readable as plain text: numbers are right-aligned. */
function markdown(head: readonly string[], rows: readonly (readonly string[])[]) {
  const widths = head.map((name, i) => Math.max(3, name.length, ...rows.map(row => row[i]?.length ?? 0)))
  const numeric = head.map((_, i) => i > 0 && rows.every(row => /^[-\d<>]/.test(row[i] ?? '-')))
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, i) => (numeric[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join(' | ')} |`
  const rule = `|${widths.map((width, i) => `${'-'.repeat(width + 1)}${numeric[i] ? ':' : '-'}`).join('|')}|`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

/** Lists the machine, the versions and the options of the run. */
export function factsOf(postgresVersion: string, requested: string): string[] {
  const git = (...args: string[]) => {
    try {
      return execFileSync('git', args, {
        cwd: import.meta.dirname,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim()
    } catch {
      return ''
    }
  }
  const changed = git('status', '--porcelain', '--', '../../src', '../../migrations') ? ' and changes on top of it' : ''
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  return [
    `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC, commit ${git('rev-parse', '--short', 'HEAD') || 'unknown'}${changed}`,
    `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${gigabytes} GB, ${process.platform} ${process.arch}; load average at the end ${loadavg().map(tenths).join(', ')}`,
    `Node ${process.versions.node}, PostgreSQL ${postgresVersion}`,
    requested,
  ]
}

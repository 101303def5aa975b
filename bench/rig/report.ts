import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

/** Result of a part of the bench, as Markdown. */
export interface Section {
  title: string
  /** The method, in a few sentences. */
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

export const getMedian = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** Returns the item with the median of `by`, so that all its figures are from the same measurement. */
export const getMedianBy = <T>(values: readonly T[], by: (value: T) => number) =>
  [...values].sort((a, b) => by(a) - by(b))[values.length >> 1] as T

export const formatWhole = (value: number) => (Number.isNaN(value) ? '-' : Math.round(value).toLocaleString('en-US'))
export const formatTenths = (value: number) => (Number.isNaN(value) ? '-' : value.toFixed(value < 10 ? 2 : 1))
export const formatPercent = (value: number) => `${Math.round(value * 100)} %`

/** Prints a section and saves it, unless `save` is false. */
export async function publish(name: string, section: Section, facts: readonly string[], { save = true } = {}) {
  const text = [
    `# ${section.title}`,
    section.about,
    ...section.tables.map(({ caption, head, rows }) => `## ${caption}\n\n${formatTable(head, rows)}`),
    ...(section.targets.length
      ? [`## Targets\n\n${formatTable(['target', 'expected', 'actual', ''], section.targets.map(toTargetRow))}`]
      : []),
    `## Measured on\n\n${facts.map(fact => `- ${fact}`).join('\n')}`,
  ].join('\n\n')
  console.log(`\n${text}\n`)
  if (!save) return
  const folder = new URL('../results/', import.meta.url)
  await mkdir(folder, { recursive: true })
  await writeFile(new URL(`${name}.md`, folder), `${text}\n`)
}

const toTargetRow = ({ label, expected, actual, met }: Target) => [label, expected, actual, met ? 'met' : '**missed**']

/** Formats a table that is also readable as plain text: numbers are right-aligned. */
function formatTable(head: readonly string[], rows: readonly (readonly string[])[]) {
  const widths = head.map((name, i) => Math.max(3, name.length, ...rows.map(row => row[i]?.length ?? 0)))
  const numeric = head.map((_, i) => i > 0 && rows.every(row => /^[-\d<>]/.test(row[i] ?? '-')))
  const formatLine = (row: readonly string[]) =>
    `| ${row.map((cell, i) => (numeric[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join(' | ')} |`
  const rule = `|${widths.map((width, i) => `${'-'.repeat(width + 1)}${numeric[i] ? ':' : '-'}`).join('|')}|`
  return [formatLine(head), rule, ...rows.map(formatLine)].join('\n')
}

/** Lists the machine, the versions and the options of the run. */
export function collectFacts(postgresVersion: string, options: string): string[] {
  const runGit = (...args: string[]) => {
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
  const changed = runGit('status', '--porcelain', '--', '../../src', '../../migrations')
    ? ' and changes on top of it'
    : ''
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  return [
    `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC, commit ${runGit('rev-parse', '--short', 'HEAD') || 'unknown'}${changed}`,
    `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${gigabytes} GB, ${process.platform} ${process.arch}; load average at the end ${loadavg().map(formatTenths).join(', ')}`,
    `Node ${process.versions.node}, PostgreSQL ${postgresVersion}`,
    options,
  ]
}

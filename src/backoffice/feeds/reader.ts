import { Refusal, textOf } from './cells.ts'
import { everyField, type Field, fieldsIn, type Naming } from './columns.ts'
import { type Fault, ImportError } from './fault.ts'
import type { Kind } from './kinds.ts'
import { csvLines, jsonLines, type Line } from './lines.ts'
import type { Row } from './rows.ts'
import { bytesOf, type Source } from './source.ts'

/** A file, opened as far as its header. */
export interface Feed {
  /** The columns of the file, without those of a `.rejected.csv`. */
  header: string[]
  fields: Field[]
  /** A line may leave out columns that another one gives. */
  sparse: boolean
  lines: AsyncIterable<Line[]>
}

interface Reading extends Naming {
  currency: string
  onRead: (bytes: number) => void
}

/** Opens a source; throws `ImportError` when its columns are not those of the kind. */
export async function openFeed(source: Source, kind: Kind, { currency, onRead, ...naming }: Reading): Promise<Feed> {
  const bytes = bytesOf(source, onRead)
  if (source.format === 'ndjson') {
    const fields = everyField(kind, naming, currency)
    const places = new Map(fields.map(field => [field.header, field.place]))
    for (const name of naming.ignore ?? []) if (!places.has(name)) places.set(name, places.size)
    return { header: [...places.keys()], fields, sparse: true, lines: jsonLines(bytes, places) }
  }
  const blocks = csvLines(bytes)
  const { value: first } = await blocks.next()
  const [head, ...rest] = first ?? []
  if (!head) throw new ImportError(`${source.name} is empty: the first line names the columns.`)
  if (head.unreadable) throw new ImportError(`The header of ${source.name} cannot be read. ${head.unreadable}`)
  const names = head.cells.map(String)
  const { fields, skipped } = fieldsIn(names, kind, naming, currency)
  return {
    header: names.slice(skipped),
    fields: fields.map(field => ({ ...field, place: field.place - skipped })),
    sparse: false,
    lines: (async function* () {
      for (const lines of [rest]) yield trimmed(lines)
      for await (const lines of blocks) yield trimmed(lines)
    })(),
  }

  /** The lines without the columns of a `.rejected.csv`, and refused where they have too few or too many cells. */
  function trimmed(lines: Line[]) {
    for (const line of lines) {
      if (line.cells.length !== names.length)
        line.unreadable ??= `The line has ${count(line.cells.length, 'cell')}, the header ${names.length}.`
      if (skipped) line.cells = line.cells.slice(skipped)
    }
    return lines
  }
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`

/** The row that a line holds, or all that is wrong with it. */
export function rowOf(line: Line, fields: readonly Field[], kind: Kind): { row: Row } | { faults: Fault[] } {
  if (line.unreadable) return { faults: [{ column: '', reason: line.unreadable }] }
  const row: Record<string, unknown> = {}
  let faults = line.faults
  for (const { name, place, check, shape, required } of fields) {
    const cell = line.cells[place]
    let value: unknown
    if (typeof cell === 'string') value = check(cell)
    else if (cell !== undefined) {
      const text = textOf(cell, shape)
      value = typeof text === 'string' ? check(text) : text
    } else if (required) value = check('')
    if (value instanceof Refusal) {
      faults ??= []
      faults.push({ column: name, reason: value.reason })
    } else if (value !== undefined) row[name] = value
  }
  if (faults) return { faults }
  const fault = kind.rule?.(row)
  return fault ? { faults: [fault] } : { row }
}

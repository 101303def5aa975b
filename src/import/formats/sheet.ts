import type { Field } from '../pipeline/columns.ts'
import { ImportError } from '../pipeline/import-error.ts'
import type { ImportType } from '../pipeline/import-type.ts'
import { RowError } from '../pipeline/row-error.ts'
import type { Line, Sheet } from '../pipeline/sheet.ts'
import { bytesOf, type Source } from '../sources/file.ts'
import type { Dialect } from './dialect.ts'
import { asUtf8 } from './encoding.ts'
import { asItWas } from './formulas.ts'
import { everyField, fieldsIn, isRejectedFile } from './header.ts'
import { csvLines, jsonLines } from './lines.ts'
import { rowsOfRecords } from './records.ts'

/** How a file is read, and who hears about it. */
export interface Reading {
  dialect: Dialect
  currency: string
  onRead(bytes: number): void
  /** Hears what the file was taken for, where nobody has said. */
  onRemark(text: string): void
}

/** Opens a file as far as its header; throws `ImportError` when its columns are not those of the type. */
export async function openSheet(source: Source, type: ImportType, reading: Reading): Promise<Sheet> {
  const { dialect, currency, onRead, onRemark } = reading
  const encoded = { name: source.name, encoding: dialect.encoding, isJson: source.format === 'ndjson', onRemark }
  const { chunks: bytes, isOurs } = await asUtf8(bytesOf(source, onRead), encoded)
  if (source.format === 'ndjson') {
    const fields = everyField(type, dialect, currency)
    const places = new Map(fields.map(field => [field.header, field.place]))
    const others = [...(dialect.ignore ?? []), ...(dialect.clocks?.values() ?? [])]
    for (const name of others) if (!places.has(name)) places.set(name, places.size)
    const onRest = () => {
      sheet.isRest = true
    }
    const sheet: Sheet = {
      header: [...places.keys()],
      fields,
      sparse: true,
      lines: jsonLines(bytes, {
        places,
        ignoresUnknown: dialect.ignoresUnknown,
        onRest,
        rowsOf: record => rowsOfRecords.get(type)?.(record, currency),
      }),
    }
    return sheet
  }
  const delimiter = isOurs ? ',' : dialect.delimiter
  const blocks = csvLines(bytes, delimiter)
  const { value: first } = await blocks.next()
  const [head, ...rest] = first ?? []
  if (!head) throw new ImportError(`${source.name} is empty: the first line names the columns.`)
  if (head.unreadable) throw new ImportError(`The header of ${source.name} cannot be read. ${head.unreadable.text}`)
  const header = head.cells.map(String)
  const names = isRejectedFile(header) ? header.map(asItWas) : header
  // Both are written by us, with apostrophes in front of what a spreadsheet would run.
  const isWritten = isRejectedFile(header) || isDoctors(header, type)
  const { fields, skipped } = fieldsIn(names, type, { ...dialect, delimiter }, currency)
  return {
    header: names.slice(skipped),
    fields: fields.map(field => movedBy(-skipped, field)),
    sparse: false,
    isRest: skipped > 0,
    lines: (async function* () {
      for (const lines of [rest]) yield trimmed(lines)
      for await (const lines of blocks) yield trimmed(lines)
    })(),
  }

  /** The lines without the columns of a `.rejected.csv`, and rejected where they have too few or too many cells. */
  function trimmed(lines: Line[]) {
    for (const line of lines) {
      if (line.cells.length !== names.length)
        line.unreadable ??= new RowError(
          `The line has ${count(line.cells.length, 'cell')}, the header ${names.length}.`,
        )
      if (isWritten) line.cells = line.cells.slice(skipped).map(cell => asItWas(String(cell)))
    }
    return lines
  }
}

/** Whether a file of mappings is the mapping check's: it has columns beside those of a mapping. */
const isDoctors = (header: readonly string[], { passesOver }: ImportType) =>
  Array.isArray(passesOver) && passesOver.every(name => header.includes(name))

/** A field with its cells that many places further on. */
const movedBy = (places: number, field: Field): Field => ({
  ...field,
  place: field.place + places,
  ...(field.clock !== undefined && { clock: field.clock + places }),
})

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`

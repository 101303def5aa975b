import { ImportError } from '../rows/import-error.ts'
import type { Kind } from '../rows/kind.ts'
import type { Line, Sheet } from '../rows/sheet.ts'
import { asItWas } from './formulas.ts'
import { everyField, fieldsIn, isRejectedFile, type Naming } from './header.ts'
import { csvLines, jsonLines } from './lines.ts'
import { bytesOf, type Source } from './source.ts'

interface Reading extends Naming {
  currency: string
  onRead: (bytes: number) => void
}

/** Opens a file as far as its header; throws `ImportError` when its columns are not those of the kind. */
export async function openSheet(source: Source, kind: Kind, { currency, onRead, ...naming }: Reading): Promise<Sheet> {
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
  const header = head.cells.map(String)
  const names = isRejectedFile(header) ? header.map(asItWas) : header
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
      if (skipped) line.cells = line.cells.slice(skipped).map(cell => asItWas(String(cell)))
    }
    return lines
  }
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`

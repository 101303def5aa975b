import { countNoun } from '../../domain/values/nouns.ts'
import type { Field } from '../pipeline/columns.ts'
import { ImportError } from '../pipeline/import-error.ts'
import type { ImportType } from '../pipeline/import-type.ts'
import { RowError } from '../pipeline/row-error.ts'
import type { Line, Sheet } from '../pipeline/sheet.ts'
import { readBytes, type Source } from '../sources/file.ts'
import type { Confidence } from './code-pages.ts'
import type { Dialect } from './dialect.ts'
import { toUtf8 } from './encoding.ts'
import { unescapeFormula } from './formulas.ts'
import { createNdjsonFields, findFields, hasReasonColumns } from './header.ts'
import { openLineConverter } from './line-converters.ts'
import { readCsvLines, readJsonLines } from './lines.ts'
import { recordConverters } from './records.ts'

/** How a file is read. */
export interface SheetOptions {
  dialect: Dialect
  currency: string
  onRead(bytes: number): void
  /** Receives guesses about the file. */
  onRemark(text: string): void
  /** Called with the confidence if the file is decoded as Windows-1252 because it is not in UTF-8. */
  onGuess?: (confidence: Confidence) => void
}

/** Opens a file and reads its header. Throws `ImportError` if the columns don't match the type. */
export async function openSheet(source: Source, type: ImportType, reading: SheetOptions): Promise<Sheet> {
  const { dialect, onRead, onRemark, onGuess = () => {} } = reading
  const hasSecret = Object.values(type.shape.properties).some(({ format }) => format === 'secret')
  const encoded = {
    name: source.name,
    encoding: dialect.encoding,
    isJson: source.format === 'ndjson',
    quotesContent: !hasSecret,
    onRemark,
    onGuess,
  }
  const { chunks: bytes, isRejectedFile } = await toUtf8(readBytes(source, onRead), encoded)
  return source.format === 'ndjson'
    ? openNdjsonSheet(bytes, type, reading)
    : openCsvSheet({ name: source.name, bytes, isRejectedFile }, type, reading)
}

function openNdjsonSheet(bytes: AsyncIterable<Buffer>, type: ImportType, { dialect, currency }: SheetOptions): Sheet {
  const fields = createNdjsonFields(type, dialect, currency)
  const places = new Map(fields.map(field => [field.header, field.place]))
  const otherColumns = [...(dialect.ignore ?? []), ...(dialect.timeColumns?.values() ?? [])]
  for (const name of otherColumns) if (!places.has(name)) places.set(name, places.size)
  const onRejectedRecord = () => {
    sheet.isRejectedFile = true
  }
  const sheet: Sheet = {
    header: [...places.keys()],
    fields,
    sparse: true,
    lines: readJsonLines(bytes, {
      places,
      ignoreUnknown: dialect.ignoreUnknown,
      onRejectedRecord,
      toRows: record => recordConverters.get(type)?.(record, currency),
    }),
  }
  return sheet
}

interface CsvFile {
  /** The name of the file in messages. */
  name: string
  /** The file in UTF-8. */
  bytes: AsyncIterable<Buffer>
  /** True for a file of rejected lines, which always has commas. */
  isRejectedFile: boolean
}

async function openCsvSheet(
  { name, bytes, isRejectedFile }: CsvFile,
  type: ImportType,
  { dialect, currency }: SheetOptions,
): Promise<Sheet> {
  const delimiter = isRejectedFile ? ',' : dialect.delimiter
  const blocks = readCsvLines(bytes, delimiter)
  const { value: firstLines } = await blocks.next()
  const [head, ...linesAfterHead] = firstLines ?? []
  if (!head) throw new ImportError(`${name} is empty. Its first line must name the columns.`)
  const [start] = String(head.cells[0] ?? '').trimStart()
  if (start === '{' || start === '[')
    throw new ImportError(
      `${name} is JSON, not CSV. Write each record as one line, and import it as NDJSON (.ndjson, application/x-ndjson).`,
    )
  if (start === '<')
    throw new ImportError(
      `${name} must be CSV, but it is a web page or XML. Download the export again, after signing in.`,
    )
  if (head.unreadable) throw new ImportError(`${name} has an unreadable header. ${head.unreadable.message}`)
  const header = head.cells.map(String)
  trimEmptyCells(header, 1)
  const namesInFile = hasReasonColumns(header) ? header.map(unescapeFormula) : header
  const converter = dialect.lines && openLineConverter(dialect.lines, namesInFile)
  const names = converter ? [...namesInFile, ...converter.columns] : namesInFile
  // Tillbridge wrote both files, with escaped formulas.
  const hasEscapedFormulas = hasReasonColumns(header) || isMappingCheckFile(header, type)
  const { fields, skipped } = findFields(names, type, { ...dialect, delimiter }, currency)
  return {
    header: names.slice(skipped),
    fields: fields.map(field => shiftField(-skipped, field)),
    sparse: false,
    isRejectedFile: skipped > 0,
    lines: (async function* () {
      yield trimLines(linesAfterHead)
      for await (const lines of blocks) yield trimLines(lines)
    })(),
  }

  /** Removes the columns in front of rejected lines, and adds those of a converter. Rejects lines with too few or too many cells. */
  function trimLines(lines: Line[]) {
    for (const line of lines) {
      trimEmptyCells(line.cells, namesInFile.length)
      if (line.cells.length !== namesInFile.length)
        line.unreadable ??= new RowError(
          `The line must have ${countNoun(namesInFile.length, 'cell')} like the header, but has ${line.cells.length}.`,
        )
      else if (converter && !line.unreadable) {
        const converted = converter.convert(line.cells.map(String))
        if (Array.isArray(converted)) line.cells.push(...converted)
        else line.skipReason = converted.skipReason
      }
      if (hasEscapedFormulas) line.cells = line.cells.slice(skipped).map(cell => unescapeFormula(String(cell)))
    }
    return lines
  }
}

/** Removes empty cells at the end down to a number of cells. Spreadsheets export empty columns next to a table. */
function trimEmptyCells(cells: unknown[], minimum: number) {
  while (cells.length > minimum && cells.at(-1) === '') cells.pop()
}

/** True for a file of the mapping check, which has more columns than a mapping. */
const isMappingCheckFile = (header: readonly string[], { ignoredColumns }: ImportType) =>
  Array.isArray(ignoredColumns) && ignoredColumns.every(name => header.includes(name))

const shiftField = (places: number, field: Field): Field => ({
  ...field,
  place: field.place + places,
  ...(field.timePlace !== undefined && { timePlace: field.timePlace + places }),
})

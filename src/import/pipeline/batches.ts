import { setImmediate as othersFirst } from 'node:timers/promises'
import type { Field } from './columns.ts'
import type { ImportType } from './import-type.ts'
import type { Sheet, ValidatedRow } from './sheet.ts'
import { validateLine } from './validate.ts'

/** Lines of a batch: with half of them an import takes a tenth longer, and more take memory. */
const linesAtOnce = 2_000
/** What belongs together stays in one batch, up to this many lines. */
const linesTogether = 5_000
/** A batch ends earlier with this many bytes, so that long lines do not take all the memory; four times as many of what belongs together. */
const bytesAtOnce = 4 * 1024 * 1024
/** After so many lines others have a turn: the batch before, which is being put in, would wait for this one between its statements. */
const linesInARow = 50

/** The lines of a sheet, judged, as many as go in at a time. No key comes twice in a batch, so that the later line of two wins. */
export async function* batchesOf({ lines, fields }: Sheet, type: ImportType): AsyncGenerator<ValidatedRow[]> {
  let batch: ValidatedRow[] = []
  let size = 0
  const keys = new Set<string>()
  const recordOf = recordsBy(fields, type)
  let judgedLines = 0
  for await (const some of lines)
    for (const line of some) {
      if (++judgedLines % linesInARow === 0) await othersFirst()
      const judged = validateLine(line, fields, type)
      const key = type.key.map(column => judged.row?.[column]).join('\0')
      const repeats = judged.row !== undefined && key !== '' && keys.has(key)
      const isPart = belongTogether(batch.at(-1), judged, recordOf)
      const isFull = batch.length >= (isPart ? linesTogether : linesAtOnce)
      if (repeats || isFull || size >= (isPart ? 4 : 1) * bytesAtOnce) {
        yield batch
        batch = []
        size = 0
        keys.clear()
      }
      batch.push(judged)
      size += line.size
      if (judged.row) keys.add(key)
    }
  if (batch.length) yield batch
}

/** Of which record a line is, where lines go in together: also one that is rejected, as far as its cells tell. */
export function recordsBy(fields: readonly Field[], { together }: ImportType) {
  const field = together === undefined ? undefined : fields.find(({ name }) => name === together)
  if (!field) return
  return ({ row, line }: ValidatedRow): string | undefined => {
    const value = row ? row[field.name] : (field.constant?.value ?? line.cells[field.place])
    // As the check of an identifier leaves it.
    return String(value ?? '').trim() || undefined
  }
}

/** Whether both lines are of one record; or may be, since one of them cannot be read. */
function belongTogether(last: ValidatedRow | undefined, next: ValidatedRow, recordOf: ReturnType<typeof recordsBy>) {
  if (!last || !recordOf) return false
  if (last.line.unreadable || next.line.unreadable) return true
  const record = recordOf(next)
  return record !== undefined && recordOf(last) === record
}

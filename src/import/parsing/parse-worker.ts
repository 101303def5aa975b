import type { FileHandle } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { Confidence } from '../formats/code-pages.ts'
import type { Dialect } from '../formats/dialect.ts'
import { openSheet } from '../formats/sheet.ts'
import { splitIntoBatches } from '../pipeline/batches.ts'
import type { Field } from '../pipeline/columns.ts'
import { ImportError } from '../pipeline/import-error.ts'
import { findImportType } from '../pipeline/import-types.ts'
import type { Sheet, ValidatedRow } from '../pipeline/sheet.ts'
import type { Format } from '../sources/file.ts'

/**
 * The thread that parses an uploaded file. `parse-thread.ts` sends a message for each batch that it wants, and gets one reply. So no batch is
 * parsed before there is room for it.
 */

/** The file and how to read it. */
export interface ParseTask {
  handle: FileHandle
  name: string
  format: Format
  typeName: string
  dialect: Dialect
  currency: string
  maxUnpackedBytes: number
}

/** A field without its functions, which can't be sent. */
type SentField = Omit<Field, 'parse' | 'clean' | 'describeDoubt'>

export type Reply = {
  remarks: string[]
  guess: Confidence | undefined
  /** Bytes read from the file since the last reply. */
  bytes: number
  isRejectedFile: boolean | undefined
} & (
  | { opened: Pick<Sheet, 'header' | 'sparse'> & { fields: SentField[] } }
  | { batch: ValidatedRow[] | undefined }
  | { failed: { message: string; messageWithoutContent: string | undefined } }
)

const { handle, name, format, typeName, dialect, currency, maxUnpackedBytes } = workerData as ParseTask
let remarks: string[] = []
let guess: Confidence | undefined
let bytes = 0
let sheet: Sheet | undefined
const type = findImportType(typeName)

/** Yields the header, then the batches. */
async function* parseFile() {
  if (!type) throw new Error(`import type ${typeName} does not exist`)
  const stream = handle.createReadStream({ start: 0, highWaterMark: 64 * 1024 })
  sheet = await openSheet({ name, format, stream, maxUnpackedBytes }, type, {
    dialect,
    currency,
    onRead(read) {
      bytes += read
    },
    onRemark: text => void remarks.push(text),
    onGuess(confidence) {
      guess = confidence
    },
  })
  const places = sheet.fields.map(({ place }) => place)
  const fields = sheet.fields.map(({ parse: _, clean: __, describeDoubt: ___, ...field }, place) => ({
    ...field,
    place,
  }))
  yield { opened: { header: fields.map(({ header }) => header), sparse: sheet.sparse, fields } }
  for await (const batch of splitIntoBatches(sheet, type)) yield { batch: batch.map(row => keepCells(row, places)) }
}

/** Keeps the cells of our columns. A file can have a million others, and receiving them would block the importer. */
const keepCells = ({ line, ...row }: ValidatedRow, places: readonly number[]): ValidatedRow => ({
  ...row,
  line: { ...line, cells: places.map(place => line.cells[place]) },
})

const replies = parseFile()

parentPort?.on('message', async () => {
  const reply = await replies.next().then(
    ({ value }) => value ?? { batch: undefined },
    error => ({
      failed: {
        message: String(error?.message),
        messageWithoutContent: error instanceof ImportError ? error.messageWithoutContent : undefined,
      },
    }),
  )
  parentPort?.postMessage({ remarks, guess, bytes, isRejectedFile: sheet?.isRejectedFile, ...reply } satisfies Reply)
  remarks = []
  guess = undefined
  bytes = 0
})

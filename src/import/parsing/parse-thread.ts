import { Worker } from 'node:worker_threads'
import { handleLater } from '../../telemetry/ignored-errors.ts'
import type { Confidence } from '../formats/code-pages.ts'
import type { Dialect } from '../formats/dialect.ts'
import type { Field } from '../pipeline/columns.ts'
import { ImportError } from '../pipeline/import-error.ts'
import { RowError } from '../pipeline/row-error.ts'
import type { Sheet, ValidatedRow } from '../pipeline/sheet.ts'
import type { ParseTask, Reply } from './parse-worker.ts'

/** Limits of one thread. */
export interface ParseLimits {
  maxMemoryMib: number
  /** Milliseconds for the header or one batch. */
  timeoutMs: number
  maxUnpackedBytes: number
}

const uploadLimits: ParseLimits = { maxMemoryMib: 256, timeoutMs: 60_000, maxUnpackedBytes: 2 * 1024 ** 3 }

interface ReadingOptions extends Pick<ParseTask, 'dialect' | 'currency'> {
  onRead(bytes: number): void
  onRemark(text: string): void
  onGuess?: (confidence: Confidence) => void
  signal: AbortSignal
}

/**
 * Opens an uploaded file up to its header. Parses it in a thread, so that no file can block the event loop of the server or exhaust its
 * memory. A thread that exceeds its limit of memory or time is terminated. It parses the next batch only when the importer requests it, and
 * closes the file handle. Throws `ImportError` like `openSheet`.
 */
export async function openSheetInThread(
  file: Pick<ParseTask, 'handle' | 'name' | 'format' | 'typeName'>,
  { dialect, currency, onRead, onRemark, onGuess, signal }: ReadingOptions,
  { maxMemoryMib, timeoutMs, maxUnpackedBytes }: ParseLimits = uploadLimits,
): Promise<Sheet> {
  const task: ParseTask = { ...file, dialect: toCloneable(dialect), currency, maxUnpackedBytes }
  const worker = new Worker(new URL('./parse-worker.ts', import.meta.url), {
    name: 'import',
    workerData: task,
    transferList: [file.handle as never],
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMib, maxYoungGenerationSizeMb: 16 },
    // The thread gets no flags and no environment variables, which have secrets (contributing/decisions/0038).
    execArgv: [],
    env: {},
  })
  const failure = Promise.withResolvers<never>()
  handleLater(failure.promise)
  const fail = (error: Error) => {
    failure.reject(error)
    void worker.terminate()
  }
  worker.on('error', (error: NodeJS.ErrnoException) =>
    fail(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? new ImportError(`${file.name} needs more than ${maxMemoryMib} MiB of memory to be read. Split it.`)
        : error,
    ),
  )
  worker.on('exit', () => fail(new Error('the thread that parses the file ended early')))
  const stop = () => fail(new ImportError('The import was stopped before its first line. Nothing was imported.'))
  signal.addEventListener('abort', stop)
  const close = async () => {
    signal.removeEventListener('abort', stop)
    await worker.terminate()
  }

  const requestNext = async () => {
    const received = Promise.withResolvers<Reply>()
    const timer = setTimeout(
      () => fail(new ImportError(`${file.name} can't be read: a part of it took longer than ${timeoutMs / 1_000} s.`)),
      timeoutMs,
    )
    worker.once('message', received.resolve)
    worker.postMessage('next')
    const reply = await Promise.race([received.promise, failure.promise]).finally(() => clearTimeout(timer))
    for (const remark of reply.remarks) onRemark(remark)
    if (reply.guess) onGuess?.(reply.guess)
    onRead(reply.bytes)
    if (!('failed' in reply)) return reply
    const { message, messageWithoutContent } = reply.failed
    throw messageWithoutContent === undefined ? new Error(message) : new ImportError(message, messageWithoutContent)
  }

  try {
    if (signal.aborted) stop()
    const reply = await requestNext()
    if (!('opened' in reply)) throw new Error('the thread that parses the file did not open it')
    // Checks are functions, which a thread can't send. It validates the lines itself and sends them as batches.
    const { fields, ...opened } = reply.opened
    const sheet: Sheet = { ...opened, fields: fields as Field[], lines: readNoLines(), batches: readBatches(), close }
    if (reply.isRejectedFile !== undefined) sheet.isRejectedFile = reply.isRejectedFile
    return sheet

    async function* readBatches(): AsyncGenerator<ValidatedRow[]> {
      try {
        for (;;) {
          const next = await requestNext()
          // In NDJSON, only the lines show it.
          if (next.isRejectedFile !== undefined) sheet.isRejectedFile = next.isRejectedFile
          if (!('batch' in next) || !next.batch) return
          yield next.batch.map(restoreErrors)
        }
      } finally {
        await close()
      }
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function* readNoLines(): AsyncGenerator<never> {}

/** The members of a dialect. The object of a caller can have more, such as functions and signals, which a thread can't receive. */
const dialectMembers = {
  map: true,
  ignore: true,
  ignoreUnknown: true,
  set: true,
  timeColumns: true,
  forbiddenColumns: true,
  delimiter: true,
  encoding: true,
  decimal: true,
  dateFormat: true,
  timeZone: true,
  today: true,
  values: true,
  allowMissing: true,
  lines: true,
} satisfies Record<keyof Dialect, true>

const toCloneable = (dialect: Dialect): Dialect =>
  Object.fromEntries(Object.entries(dialect).filter(([name, value]) => name in dialectMembers && value !== undefined))

/** Restores the class of the errors of a row, which a message does not keep. */
function restoreErrors({ line, errors, ...row }: ValidatedRow): ValidatedRow {
  const restore = ({ message, column, value }: RowError) => new RowError(message, column, value)
  return {
    ...row,
    line: line.unreadable ? { ...line, unreadable: restore(line.unreadable) } : line,
    ...(errors && { errors: errors.map(restore) }),
  }
}

import { pipeline, Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { maxLineBytes } from '../../../import/formats/blocks.ts'
import { toUtf8 } from '../../../import/formats/encoding.ts'
import { ImportError } from '../../../import/pipeline/import-error.ts'
import { openSource, readBytes } from '../../../import/sources/file.ts'

/** A line of an export file: its cells by column name. */
export type ExportLine = Readonly<Record<string, string | undefined>>

/** Largest file in bytes, both compressed and uncompressed. */
export const maxBytes = 2 * 1024 ** 3
export const tooLarge = 'The file must not be larger than 2 GiB.'

/** Reads the lines of an export file. `name` is used in messages. Throws `ImportError` if the file can't be read to its end. */
export async function* readExportLines({ path, name }: { path: string; name: string }): AsyncGenerator<ExportLine> {
  const source = { ...(await openSource(path, 'csv')), name }
  // An unclosed quotation mark would turn the remaining file into one line, so records have a maximum size.
  const parser = parse({ columns: true, bom: true, skip_empty_lines: true, max_record_size: maxLineBytes })
  const bytes = limitBytes(readBytes(source, () => {}))
  try {
    const { chunks } = await toUtf8(bytes, { name, encoding: undefined, isJson: false, onRemark: () => {} })
    // Errors of both streams are thrown by the iteration below.
    pipeline(Readable.from(chunks), parser, () => {})
    yield* parser as AsyncIterable<ExportLine>
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (/^CSV_/.test(code)) throw new ImportError(`${name} can't be read: ${message}`)
    throw error
  } finally {
    source.stream.destroy()
  }
}

async function* limitBytes(chunks: AsyncIterable<Buffer>) {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new ImportError(tooLarge)
    yield chunk
  }
}

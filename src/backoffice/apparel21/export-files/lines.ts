import { pipeline, Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { maxLineBytes } from '../../../import/formats/blocks.ts'
import { asUtf8 } from '../../../import/formats/encoding.ts'
import { ImportError } from '../../../import/pipeline/import-error.ts'
import { bytesOf, openSource } from '../../../import/sources/file.ts'

/** A line of an export: its cells by the names of its columns. */
export type ExportLine = Readonly<Record<string, string | undefined>>

/** No file holds more, nor comes to more when it is unpacked. */
export const mostBytes = 2 * 1024 ** 3
export const tooLarge = 'It holds more than 2 GiB.'

/** The lines of the export at `path`, which messages call `name`. Throws `ImportError` where it cannot be read to its end. */
export async function* linesOf({ path, name }: { path: string; name: string }): AsyncGenerator<ExportLine> {
  const source = { ...(await openSource(path, 'csv')), name }
  // A quotation mark that is not closed would have the rest of the file read as one line.
  const parser = parse({ columns: true, bom: true, skip_empty_lines: true, max_record_size: maxLineBytes })
  const bytes = atMost(bytesOf(source, () => {}))
  try {
    const { chunks } = await asUtf8(bytes, { name, encoding: undefined, isJson: false, onRemark: () => {} })
    // Errors of either side arrive at the reader below.
    pipeline(Readable.from(chunks), parser, () => {})
    yield* parser as AsyncIterable<ExportLine>
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (/^CSV_/.test(code)) throw new ImportError(`${name} cannot be read: ${message}`)
    throw error
  } finally {
    source.stream.destroy()
  }
}

async function* atMost(chunks: AsyncIterable<Buffer>) {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new ImportError(tooLarge)
    yield chunk
  }
}

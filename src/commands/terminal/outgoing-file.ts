import { createWriteStream, existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { NotAFile, writeAtomically } from '../../files/atomic-write.ts'
import { type ContentEncoding, createEncoder } from '../../http/negotiation/compression.ts'

const compressions: Readonly<Record<string, ContentEncoding>> = { gz: 'gzip', zst: 'zstd' }

/** Returns the compression of a file by its name. Throws if the name isn't that of an NDJSON file. */
export function getCompression(path: string): ContentEncoding | undefined {
  const [, ending, encoding = ''] = /\.(ndjson|jsonl)(?:\.(gz|zst))?$/i.exec(path) ?? []
  if (!ending) throw new Error(`${path}: the name must end in .ndjson or .jsonl, optionally followed by .gz or .zst.`)
  return compressions[encoding.toLowerCase()]
}

/** Writes an NDJSON file. The file exists only once it is complete (`writeAtomically`). */
export async function writeNdjsonFile(path: string, texts: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  const encoding = getCompression(path)
  await writeAtomically(path, draft =>
    pipeTo(texts, encoding, createWriteStream(draft, { mode: 0o600 }), signal),
  ).catch(rethrowWriteError(path))
}

/** Returns a handler that rethrows write errors with the path. Other errors are rethrown unchanged. `hint` follows if `path` isn't a file. */
export const rethrowWriteError =
  (path: string, hint = '') =>
  (error: NodeJS.ErrnoException) => {
    const { code, message } = error
    if (error instanceof NotAFile) throw new Error(`${message}${hint}.`)
    if (code === undefined || !/^E[A-Z]+$/.test(code)) throw error
    const folder = dirname(resolve(path))
    throw new Error(
      `${path} can't be written: ${code === 'ENOENT' && !existsSync(folder) ? `folder ${folder} not found` : message}.`,
    )
  }

/** Writes texts to standard output. Stops without an error if the reader closes the pipe (`| head`). */
export async function writeToStandardOutput(texts: AsyncIterable<string> | string): Promise<void> {
  try {
    await pipeline(Readable.from(texts), process.stdout)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}

/** Writes texts to a stream, optionally compressed, at the pace of its reader. */
export const pipeTo = (
  texts: AsyncIterable<string>,
  encoding: ContentEncoding | undefined,
  to: Writable | NodeJS.WriteStream,
  signal: AbortSignal,
) => pipeline([Readable.from(texts), ...(encoding ? [createEncoder(encoding)] : []), to], { signal })

import { createWriteStream, existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { NotAFile, writeAtomically } from '../../files/atomic-write.ts'
import { type Packing, packer } from '../../http/negotiation/compression.ts'

const packings: Readonly<Record<string, Packing>> = { gz: 'gzip', zst: 'zstd' }

/** How a file of this name is packed. Throws where the name is none of NDJSON. */
export function packingOf(path: string): Packing | undefined {
  const [, ending, packing = ''] = /\.(ndjson|jsonl)(?:\.(gz|zst))?$/i.exec(path) ?? []
  if (!ending) throw new Error(`${path}: the name must end in .ndjson or .jsonl, optionally followed by .gz or .zst.`)
  return packings[packing.toLowerCase()]
}

/** Writes a file that is there only when it is whole (`writeAtomically`). */
export async function writeWhole(path: string, texts: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  const packing = packingOf(path)
  await writeAtomically(path, draft => send(texts, packing, createWriteStream(draft, { mode: 0o600 }), signal)).catch(
    notWritten(path),
  )
}

/** Tells of a file that could not be written; what else went wrong is thrown as it is. `hint`: what to do where it is no file. */
export const notWritten =
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

/** Sends texts to standard output, as far as whoever reads there wants them: `| head`. */
export async function toStandardOutput(texts: AsyncIterable<string> | string): Promise<void> {
  try {
    await pipeline(Readable.from(texts), process.stdout)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}

/** Sends texts, packed perhaps, to somebody who takes them as fast as they can. */
export const send = (
  texts: AsyncIterable<string>,
  packing: Packing | undefined,
  to: Writable | NodeJS.WriteStream,
  signal: AbortSignal,
) => pipeline([Readable.from(texts), ...(packing ? [packer(packing)] : []), to], { signal })

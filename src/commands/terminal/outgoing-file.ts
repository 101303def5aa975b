import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Packing, packer } from '../../http/media/packing.ts'

const packings: Readonly<Record<string, Packing>> = { gz: 'gzip', zst: 'zstd' }

/** How a file of this name is packed. Throws where the name is none of NDJSON. */
export function packingOf(path: string): Packing | undefined {
  const [, ending, packing = ''] = /\.(ndjson|jsonl)(?:\.(gz|zst))?$/i.exec(path) ?? []
  if (!ending) throw new Error(`${path}: the name has to end in .ndjson or .jsonl, with or without .gz or .zst.`)
  return packings[packing.toLowerCase()]
}

/**
 * Writes a file that is there only when it is whole: under another name beside it until all of it is on the disk. Whatever ends it before,
 * what had the name stays; one that was killed leaves `.<name>.<process>.part`.
 */
export async function writeWhole(path: string, texts: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  const packing = packingOf(path)
  const name = resolve(path)
  const part = join(dirname(name), `.${basename(name)}.${process.pid}.part`)
  try {
    // `flush`: on the disk before it gets its name.
    await send(texts, packing, createWriteStream(part, { mode: 0o600, flush: true }), signal)
    await rename(part, name)
  } catch (error) {
    await rm(part, { force: true })
    const { code, message } = error as NodeJS.ErrnoException
    const isOfFile = code !== undefined && /^E[A-Z]+$/.test(code)
    throw isOfFile ? new Error(`${path} cannot be written: ${message}.`) : error
  }
  // The new name is on the disk once its folder is.
  const folder = await open(dirname(name), 'r')
  await folder.sync().finally(() => folder.close())
}

/** Sends texts, packed perhaps, to somebody who takes them as fast as they can. */
export const send = (
  texts: AsyncIterable<string>,
  packing: Packing | undefined,
  to: Writable | NodeJS.WriteStream,
  signal: AbortSignal,
) => pipeline([Readable.from(texts), ...(packing ? [packer(packing)] : []), to], { signal })

import { promisify } from 'node:util'
import { gzip, zstdCompress } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ContentEncoding, chooseEncoding } from '../negotiation/compression.ts'
import { createEtag, matchesEtag } from '../routing/operation.ts'

/** A public file. Each encoding is another representation, so it has its own ETag (RFC 9110, section 8.8.3.3). */
export interface CompressedFile {
  type: string
  bytes: Buffer
  encodings: Map<ContentEncoding | undefined, Promise<{ bytes: Buffer; tag: string }>>
}

const compressors = { gzip: promisify(gzip), zstd: promisify(zstdCompress) }

export const toCompressedFile = (type: string, bytes: Buffer): CompressedFile => ({ type, bytes, encodings: new Map() })

function encode({ bytes, encodings }: CompressedFile, encoding: ContentEncoding | undefined) {
  const compress = async () => {
    const encoded = encoding ? await compressors[encoding](bytes) : bytes
    return { bytes: encoded, tag: createEtag(encoded) }
  }
  const existing = encodings.get(encoding)
  if (existing) return existing
  const created = compress()
  encodings.set(encoding, created)
  return created
}

/** Sends a file in the encoding that the client prefers, or 304 if the client has it. */
export async function sendCompressedFile(request: FastifyRequest, reply: FastifyReply, file: CompressedFile) {
  const encoding = chooseEncoding(request.headers['accept-encoding']?.toString())
  const { bytes, tag } = await encode(file, encoding)
  reply.headers({ etag: tag, vary: 'accept-encoding' })
  if (matchesEtag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  if (encoding) reply.header('content-encoding', encoding)
  return reply.type(file.type).send(bytes)
}

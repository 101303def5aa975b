import { constants, createGzip, createZstdCompress } from 'node:zlib'
import { getWeight } from './accept.ts'

/** Encoders of bulk exports, cheapest first. Fast levels: records are so repetitive that a higher level gains little. */
const encoders = {
  zstd: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  gzip: () => createGzip({ level: 2 }),
}
export type ContentEncoding = keyof typeof encoders

/** Returns the encoding that a client prefers. Returns undefined if `Accept-Encoding` names none; `*` does not count. */
export function chooseEncoding(acceptEncoding: string | undefined): ContentEncoding | undefined {
  const weights = (Object.keys(encoders) as ContentEncoding[]).map(
    name => [name, getWeight([name], acceptEncoding ?? '')] as const,
  )
  const highest = Math.max(...weights.map(([, weight]) => weight))
  return highest > 0 ? weights.find(([, weight]) => weight === highest)?.[0] : undefined
}

export const createEncoder = (encoding: ContentEncoding) => encoders[encoding]()

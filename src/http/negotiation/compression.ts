import { constants, createGzip, createZstdCompress } from 'node:zlib'
import { weightOf } from './accept.ts'

/** How a whole list can be packed, the cheaper way first. Levels are of speed: records repeat themselves so much that more gains little. */
const packings = {
  zstd: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  gzip: () => createGzip({ level: 2 }),
}
export type Packing = keyof typeof packings

/** The packing that a caller wants most (`Accept-Encoding`); undefined where it names none: to take anything is not to unpack it. */
export function packingFor(acceptEncoding: string | undefined): Packing | undefined {
  const wanted = (Object.keys(packings) as Packing[]).map(
    name => [name, weightOf([name], acceptEncoding ?? '')] as const,
  )
  const most = Math.max(...wanted.map(([, weight]) => weight))
  return most > 0 ? wanted.find(([, weight]) => weight === most)?.[0] : undefined
}

export const packer = (packing: Packing) => packings[packing]()

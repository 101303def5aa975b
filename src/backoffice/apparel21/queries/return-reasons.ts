import { memoize } from '../../../concurrency/ttl-cache.ts'
import type { Client } from '../client/client.ts'
import { comparableReason } from '../mapping/return-to-xml.ts'
import { every, text } from '../xml/values.ts'

/** Retail return reasons; the same in every installation that is known. */
const reasonType = '272'

/** The return reasons of a back office. */
export interface ReturnReasons {
  /** Their identifiers, by their codes (`comparableReason`). Where one of these codes is missing they are asked for anew: it may be new there. */
  idsOf(codes: readonly string[]): Promise<ReadonlyMap<string, string>>
}

/** `ms`: how long an answer counts. */
export function openReturnReasons(client: Client, ms: number): ReturnReasons {
  const create = () => memoize(() => returnReasonIds(client), ms)
  let cached = create()
  return {
    async idsOf(codes) {
      const ids = await cached()
      if (codes.every(code => ids.has(comparableReason(code)))) return ids
      const fresh = create()
      const freshIds = await fresh()
      cached = fresh
      return freshIds
    },
  }
}

async function returnReasonIds(client: Client): Promise<ReadonlyMap<string, string>> {
  const roots = ['ReferencesbyType', 'ReferencesByType']
  const root = await client.document({ endpoint: 'references', path: ['References', reasonType], roots })
  return new Map(
    every(root, 'References', 'Reference').flatMap((reason): [string, string][] => {
      const [code, id] = [text(reason, 'Code'), text(reason, 'Id')]
      return code && id ? [[comparableReason(code), id]] : []
    }),
  )
}

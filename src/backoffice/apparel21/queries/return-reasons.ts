import { memoize } from '../../../concurrency/ttl-cache.ts'
import type { Client } from '../client/client.ts'
import { normalizeReasonCode } from '../mapping/return-to-xml.ts'
import { findElements, readText } from '../xml/values.ts'

/** Retail return reasons; the same in every installation that is known. */
const reasonReferenceType = '272'

/** The return reasons of a back office. */
export interface ReturnReasonCache {
  /** Their identifiers, by their codes (`comparableReason`). Where one of these codes is missing they are asked for anew: it may be new there. */
  getIds(codes: readonly string[]): Promise<ReadonlyMap<string, string>>
}

/** `ms`: how long an answer counts. */
export function createReturnReasonCache(client: Client, ms: number): ReturnReasonCache {
  const create = () => memoize(() => fetchReturnReasonIds(client), ms)
  let cached = create()
  return {
    async getIds(codes) {
      const ids = await cached()
      if (codes.every(code => ids.has(normalizeReasonCode(code)))) return ids
      const fresh = create()
      const freshIds = await fresh()
      cached = fresh
      return freshIds
    },
  }
}

async function fetchReturnReasonIds(client: Client): Promise<ReadonlyMap<string, string>> {
  const roots = ['ReferencesbyType', 'ReferencesByType']
  const root = await client.document({ endpoint: 'references', path: ['References', reasonReferenceType], roots })
  return new Map(
    findElements(root, 'References', 'Reference').flatMap((reason): [string, string][] => {
      const [code, id] = [readText(reason, 'Code'), readText(reason, 'Id')]
      return code && id ? [[normalizeReasonCode(code), id]] : []
    }),
  )
}

import { memoize } from '../../../concurrency/ttl-cache.ts'
import type { Client } from '../client/client.ts'
import { normalizeReasonCode } from '../mapping/return-to-xml.ts'
import { findElements, readText } from '../xml/values.ts'

/** The reference type of return reasons, with the same identifier in all known installations. */
const reasonReferenceType = '272'

/** The return reasons of a back office, cached. */
export interface ReturnReasonCache {
  /** Returns the identifiers by normalised code (`normalizeReasonCode`). Loads the reasons again if one of the codes is missing, because it may be new. */
  getIds(codes: readonly string[]): Promise<ReadonlyMap<string, string>>
}

/** Creates the cache. `ttlMs`: milliseconds for which a response is cached. */
export function createReturnReasonCache(client: Client, ttlMs: number): ReturnReasonCache {
  const create = () => memoize(() => fetchReturnReasonIds(client), ttlMs)
  let cached = create()
  return {
    async getIds(codes) {
      const ids = await cached()
      if (codes.every(code => ids.has(normalizeReasonCode(code)))) return ids
      const reloaded = create()
      const reloadedIds = await reloaded()
      cached = reloaded
      return reloadedIds
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

import type { Client } from '../calls/client.ts'
import { comparableReason } from '../records/return-write.ts'
import { every, text } from '../xml/values.ts'

/** Retail return reasons; the same in every installation that is known. */
const reasonType = '272'

/** The back office's identifiers of return reasons, by their codes (`comparableReason`). */
export async function returnReasonIds(client: Client): Promise<ReadonlyMap<string, string>> {
  const roots = ['ReferencesbyType', 'ReferencesByType']
  const root = await client.document({ endpoint: 'references', path: ['References', reasonType], roots })
  return new Map(
    every(root, 'References', 'Reference').flatMap((reason): [string, string][] => {
      const [code, id] = [text(reason, 'Code'), text(reason, 'Id')]
      return code && id ? [[comparableReason(code), id]] : []
    }),
  )
}

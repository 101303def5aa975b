import type { SyncBatch, SyncRequest } from '../../../domain/sync/port.ts'
import type { Client } from '../client/client.ts'
import { findRetailApiError } from '../client/retail-api-error.ts'
import { type BackOfficeLocation, readLocations } from '../mapping/stock.ts'
import { parseStore } from '../mapping/stores.ts'
import type { Xml } from '../xml/xml.ts'

/** A location that a response names, with SKUs that have stock in it. */
interface NamedLocation extends BackOfficeLocation {
  skuIds?: readonly string[]
}

export type LocationRows = Pick<NonNullable<SyncBatch['rows']>, 'stores' | 'locations'>

/** The number of SKUs whose stock is requested to find the name of a location. */
const maxNameRequests = 3

/**
 * Creates a function that returns the rows of locations which `/Stores` doesn't list: warehouses and web stores, with the name that the
 * stock shows. A store that has opened since the last sync of the stores is fetched by its identifier. Each location is checked once.
 */
export function createLocationFinder(
  client: Client,
  { storeKinds, signal }: Pick<SyncRequest, 'storeKinds' | 'signal'>,
) {
  const checked = new Set<string>()
  return async (locations: readonly NamedLocation[]): Promise<LocationRows> => {
    const unchecked = locations.filter(({ storeId }) => !checked.has(storeId))
    if (!unchecked.length) return {}
    const kinds = await storeKinds(unchecked.map(({ storeId }) => storeId))
    const rows: Required<LocationRows> = { stores: [], locations: [] }
    for (const location of unchecked) {
      const { storeId } = location
      if (checked.has(storeId)) continue
      checked.add(storeId)
      const isNew = !kinds.has(storeId)
      const store = isNew ? await fetchStore(client, storeId, signal) : undefined
      if (store) rows.stores.push(parseStore(store))
      else if (kinds.get(storeId) !== 'store')
        rows.locations.push(toRow(isNew ? await findName(client, location, signal) : location))
    }
    return rows
  }
}

/** A warehouse has no number. A web store has one, although `/Stores` doesn't list it. Without a name, the kind is unknown. */
function toRow({ storeId, name, storeNumber }: BackOfficeLocation) {
  return name === undefined
    ? { storeId }
    : {
        storeId,
        name,
        ...(storeNumber && { storeNumber }),
        kind: storeNumber ? ('web' as const) : ('warehouse' as const),
      }
}

/** Fetches a store. Returns undefined if the back office doesn't list it. */
async function fetchStore(client: Client, storeId: string, signal: AbortSignal): Promise<Xml | undefined> {
  try {
    return await client.document({ endpoint: 'stores', path: ['Stores', storeId], roots: ['Store'], signal })
  } catch (error) {
    // A location that isn't a store can be an error instead of a missing record.
    if (findRetailApiError(error)) return
    throw error
  }
}

/** Returns the location with its name and number, which only the stock of a SKU shows. */
async function findName(client: Client, location: NamedLocation, signal: AbortSignal): Promise<BackOfficeLocation> {
  if (location.name !== undefined) return location
  for (const skuId of location.skuIds?.slice(0, maxNameRequests) ?? []) {
    const path = ['Freestock', 'sku', skuId]
    const stock = await client.document({ endpoint: 'stock', path, roots: ['Sku', 'Clr', 'Style'], signal })
    const locations = stock && readLocations(stock).find(({ storeId }) => storeId === location.storeId)
    if (locations) return locations
  }
  return location
}

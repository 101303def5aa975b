import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Keys } from '../../../src/crypto/keys.ts'
import { type Database, openDatabase } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { addAccount } from '../../../src/store/accounts/accounts.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { insertService } from '../../../src/store/shards/shards.ts'
import { addService } from '../../../src/store/tenancy/services.ts'
import { changeSettings } from '../../../src/store/tenancy/settings.ts'
import { type Credentials, toApiKey } from '../../support/operations/client.ts'

/** A retailer's service with its shard and account. */
export interface Retailer {
  service: Service
  /** Name of the shard; undefined for the control database. */
  shard: string | undefined
  credentials: Credentials
  /** Email addresses of customers that were acknowledged. */
  acknowledged: string[]
}

/** Shard URLs by name. */
type ShardUrls = ReadonlyMap<string, string>

const unlimited = { readsPerMinute: 'off', writesPerMinute: 'off' } as const

/** Creates services with some customers, evenly distributed over the control database and the shards. */
export async function createRetailers(
  control: Database,
  keys: Keys,
  shardUrls: ShardUrls,
  { services, customers }: { services: number; customers: number },
): Promise<Retailer[]> {
  const opened = new Map([...shardUrls].map(([name, url]) => [name, openDatabase(url, { max: 2 })]))
  const names = [undefined, ...shardUrls.keys()]
  const retailers: Retailer[] = []
  for (let i = 0; i < services; i++) {
    const shard = names[i % names.length]
    const db = (shard && opened.get(shard)) || control
    const name = `retailer-${i}`
    const added = await addService(control, name, shard ? {} : unlimited, shard)
    if (!added) throw new Error(`service ${name} exists already`)
    if (shard) await insertService(db, added)
    const service = { ...added, settings: { ...added.settings, ...unlimited } }
    if (shard) await db.transaction(tx => changeSettings(tx, service, unlimited))
    await upsertCustomers(
      db,
      service,
      Array.from({ length: customers }, (_, n) => ({ id: `c${n}`, firstname: `Ann ${n}`, email: `c${n}@example.com` })),
    )
    const password = await addAccount(control, keys, name, service, 'admin')
    if (!password) throw new Error(`account ${name} exists already`)
    retailers.push({
      service,
      shard,
      credentials: { apiKey: toApiKey(name, password), service: name },
      acknowledged: [],
    })
  }
  for (const db of opened.values()) await db.close()
  return retailers
}

/** Writes each shard's URL to a file, which `tillbridge shard add` reads. */
export const writeUrlFiles = (directory: string, shardUrls: ShardUrls) =>
  [...shardUrls].map(([name, url]) => {
    const file = join(directory, `${name}.url`)
    writeFileSync(file, url)
    return { name, file }
  })

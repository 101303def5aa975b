import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Keys } from '../../../src/crypto/keys.ts'
import { type Database, openDatabase } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { addAccount } from '../../../src/store/accounts/accounts.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { placeService } from '../../../src/store/shards/shards.ts'
import { addService } from '../../../src/store/tenancy/services.ts'
import { changeSettings } from '../../../src/store/tenancy/settings.ts'

/** A retailer's service, where it is, and who asks for it. */
export interface Retailer {
  service: Service
  /** Undefined: the control database. */
  at: string | undefined
  headers: Record<string, string>
  /** E-mail addresses of customers that were acknowledged. */
  acknowledged: string[]
}

/** Data databases by their names, each with its URL. */
type Places = ReadonlyMap<string, string>

const unlimited = { readsPerMinute: 'off', writesPerMinute: 'off' } as const

/** Makes services with some customers, as many in each database. */
export async function makeRetailers(
  control: Database,
  keys: Keys,
  places: Places,
  { services, customers }: { services: number; customers: number },
): Promise<Retailer[]> {
  const opened = new Map([...places].map(([name, url]) => [name, openDatabase(url, { max: 2 })]))
  const names = [undefined, ...places.keys()]
  const retailers: Retailer[] = []
  for (let i = 0; i < services; i++) {
    const at = names[i % names.length]
    const db = (at && opened.get(at)) || control
    const entered = await addService(control, `retailer-${i}`, at ? {} : unlimited, at)
    if (!entered) throw new Error('the service is new')
    if (at) await placeService(db, entered)
    const service = { ...entered, settings: { ...entered.settings, ...unlimited } }
    if (at) await db.transaction(tx => changeSettings(tx, service, unlimited))
    await upsertCustomers(
      db,
      service,
      Array.from({ length: customers }, (_, n) => ({ id: `c${n}`, firstname: `Ann ${n}`, email: `c${n}@example.com` })),
    )
    const password = await addAccount(control, keys, `retailer-${i}`, service, 'admin')
    const authorization = `Basic ${Buffer.from(`retailer-${i}:${password}`).toString('base64')}`
    retailers.push({ service, at, headers: { authorization, 'x-service-name': service.name }, acknowledged: [] })
  }
  for (const db of opened.values()) await db.close()
  return retailers
}

/** Files with the URLs, as `tillbridge database add` takes them. */
export const urlFiles = (directory: string, places: Places) =>
  [...places].map(([name, url]) => {
    const file = join(directory, `${name}.url`)
    writeFileSync(file, url)
    return { name, file }
  })

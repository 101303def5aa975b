import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../../src/database/db.ts'
import { upsertProducts } from '../../../src/store/catalog/products.ts'
import { upsertStores } from '../../../src/store/catalog/stores.ts'
import { upsertCustomers } from '../../../src/store/customers/customers.ts'
import { upsertStock } from '../../../src/store/inventory/stock.ts'
import { upsertGateways } from '../../../src/store/tenancy/gateways.ts'
import { check } from '../../support/expectations/check.ts'
import type { Installation } from '../../support/installation.ts'
import { fetchFromAny } from '../../support/operations/client.ts'
import { address } from '../../support/operations/payment.ts'
import type { ContendedStock } from './stock.ts'

const key = { storeId: '1001', skuId: '12001' }
const sku = 'MH01-XS-Black'
const probe = { skuId: '12002', sku: 'MH01-S-Black' }

/** The embedded back office. Orders are not shipped, so each count of the store still includes their units. */
export async function openEmbeddedStock(): Promise<ContendedStock> {
  let freeStock = 0
  let imports = 0
  let counts = 0
  const oversold: string[] = []
  const setStock = ({ db, service }: Pick<Installation, 'db' | 'service'>, counted = freeStock) =>
    upsertStock(db, service, [{ ...key, freeStock: counted }])
  const countUnits = async ({ db, service }: Installation) => {
    const row = await db.row<{ sold: number; allocated: number }>(sql`
      select (select coalesce(sum(quantity - cancelled), 0) from order_line where service_id = ${service.id})::integer as sold, allocated
        from stock where service_id = ${service.id} and sku_id = ${key.skuId}`)
    if (!row) throw new Error('the SKU has no stock')
    return row
  }
  return {
    sku,
    probeSku: probe.sku,
    settings: { currency: 'AUD', fulfilment: 'manual' },
    async prepare({ db, service }) {
      await upsertStores(db, service, [{ storeId: key.storeId, storeNumber: '101', name: 'Collins Street' }])
      const product = { productId: '1', productCode: 'MH01', name: 'Hoodie' }
      const colour = { productId: '1', colourId: 'BLK', code: 'BLK', name: 'Black' }
      const variant = { productId: '1', colourId: 'BLK', sizeCode: 'XS', price: '10.00' }
      await upsertProducts(db, service, [
        { product, colour, variant: { ...variant, skuId: key.skuId, sku } },
        { product, colour, variant: { ...variant, ...probe, sizeCode: 'S' } },
      ])
      await upsertStock(db, service, [{ storeId: key.storeId, skuId: probe.skuId, freeStock: 1 }])
      await upsertCustomers(db, service, [{ id: '1', firstname: 'Ann', surname: 'Last', email: 'ann@example.com' }])
      await upsertGateways(db, service, [{ name: 'visa' }])
      await setStock({ db, service })
    },
    buildOrder: () => ({
      customerId: '1',
      billingAddress: address,
      deliveryAddress: address,
      lines: [{ sku, quantity: 1 }],
      payments: [{ gateway: 'visa', amount: '10.00' }],
    }),
    async begin(installation, units) {
      freeStock = (await countUnits(installation)).sold + units
      await setStock(installation)
    },
    async disturb(installation, { random, isOver }) {
      const { apis, credentials } = installation
      const send = fetchFromAny(apis, random)
      while (!isOver()) {
        // Only a few imports: one that waits for earlier ones would overwrite the units of the next round.
        if (random.chance(0.1)) {
          const response = await send('https://any-process.test/imports?type=stock', {
            method: 'POST',
            headers: {
              authorization: `Basic ${credentials.apiKey}`,
              'x-service-name': credentials.service,
              'content-type': 'text/csv',
            },
            signal: AbortSignal.timeout(20_000),
            redirect: 'manual',
            body: `storeNumber,sku,freeStock\n101,${sku},${freeStock}\n`,
          }).catch(() => undefined)
          await response?.text().catch(() => '')
          if (response?.status === 202) imports++
        } else {
          // Alternates between two numbers, because a merge doesn't write an unchanged one.
          await setStock(installation, freeStock - (counts++ % 2))
        }
        await delay(random.integer(20, 200))
      }
    },
    async end(installation, round) {
      const { sold, allocated } = await countUnits(installation)
      const excess = sold > freeStock ? [`round ${round}: ${sold} sold of ${freeStock}`] : []
      oversold.push(...excess)
      return [...excess, ...(allocated === sold ? [] : [`round ${round}: ${allocated} allocated, ${sold} sold`])]
    },
    summarize: placed => ({
      measurements: [['imports, other writes of the stock', `${imports}, ${counts}`]],
      checks: [check('sold ≤ stock after every round', oversold, placed)],
    }),
    close: async () => {},
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import { startSimulator } from '../../../simulator/simulator.ts'
import { createUpstream } from '../../../src/backoffice/apparel21/queries/upstream.ts'
import { buildSyncs } from '../../../src/backoffice/apparel21/syncs/syncs.ts'
import { sql } from '../../../src/database/db.ts'
import { runSync } from '../../../src/sync/sync.ts'
import { connectBackOffice } from '../../support/back-office-connection.ts'
import { check } from '../../support/expectations/check.ts'
import type { Installation } from '../../support/installation.ts'
import { address } from '../../support/operations/payment.ts'
import type { ContendedStock } from './stock.ts'

/** Milliseconds between two syncs of the changed stock. In production it is a minute. */
const syncIntervalMs = 300

/** The largest share of the placed orders that till sales can oversell. */
const maxShare = 0.005

/** An Apparel21 whose tills sell the same units. A till sells only units that Apparel21 has. */
export async function openApparel21Stock(): Promise<ContendedStock> {
  const timeZone = 'Australia/Melbourne'
  const simulator = await startSimulator({ sizes: { stores: 3, styles: 3, persons: 60, vouchers: 0 } })
  const { client, release } = createUpstream({ url: simulator.url, countryCode: 'AU', timeZone })
  const stockSync = buildSyncs(client, release).find(({ name }) => name === 'stock')
  const stores = [...simulator.state.stores.values()]
  const warehouse = stores.find(({ kind }) => kind === 'warehouse')
  const [product, probe] = [...simulator.state.skus.values()].filter(
    ({ colour, price }) => !colour.style.special && price > 0,
  )
  if (!stockSync || !warehouse || !product || !probe) throw new Error('the simulated shop has no stock')
  const shoppers = [...simulator.state.persons.values()].filter(({ email }) => email !== '')
  let syncs = 0
  let tillUnits = 0
  let oversoldUnits = 0
  let alerts = 0
  const unalerted: string[] = []
  const getStock = () => simulator.state.stock.get(product.row, warehouse.column)

  /** Sets the stock: these units in the warehouse, none elsewhere. */
  function setStock(skuId: number, units: number) {
    for (const { id } of stores)
      simulator.change({ kind: 'set-stock', skuId, storeId: id, quantity: id === warehouse?.id ? units : 0 })
  }

  setStock(probe.id, 1)

  async function sync({ db, service }: Pick<Installation, 'db' | 'service'>, full = false) {
    await runSync(db, service, stockSync as NonNullable<typeof stockSync>, { full })
    syncs++
  }

  return {
    sku: String(product.id),
    probeSku: String(probe.id),
    settings: { currency: 'AUD', timeZone },
    prepare: ({ db, keys, service }) =>
      connectBackOffice(db, keys, service, { url: simulator.url, gateways: ['visa'] }),
    buildOrder: i => ({
      customerId: String(shoppers[i % shoppers.length]?.id),
      billingAddress: address,
      deliveryAddress: address,
      lines: [{ sku: String(product.id), quantity: 1 }],
      payments: [{ gateway: 'visa', amount: product.price.toFixed(2) }],
    }),
    async begin(installation, units) {
      setStock(product.id, units)
      await sync(installation, syncs === 0)
    },
    async disturb(installation, { random, tillSales, isOver }) {
      let salesLeft = tillSales
      while (!isOver()) {
        if (salesLeft > 0 && getStock() > 0 && random.chance(0.5)) {
          simulator.change({ kind: 'sell-stock', skuId: product.id, storeId: warehouse.id, quantity: 1 })
          salesLeft--
          tillUnits++
        }
        await sync(installation, random.chance(0.1))
        await delay(syncIntervalMs)
      }
    },
    async end(installation, round) {
      const { db, service } = installation
      await sync(installation)
      const missing = Math.max(0, -getStock())
      if (missing) {
        oversoldUnits += missing
        const row = await db.row<{ detail: string }>(
          sql`select detail from alert where service_id = ${service.id} and kind = 'stock_oversold'`,
        )
        if (row?.detail.startsWith(`${missing} units`)) alerts++
        else unalerted.push(`round ${round}: ${missing} units, ${row?.detail ?? 'no alert'}`)
      }
      return []
    },
    summarize(placed) {
      const share = oversoldUnits / placed
      return {
        measurements: [
          ['syncs of the stock, ms between them', `${syncs}, ${syncIntervalMs}`],
          ['units that tills sold', tillUnits],
          ['oversold units', oversoldUnits],
          ['share of the placed orders', `${(share * 100).toFixed(2)} %`],
          ['rounds with an alert', alerts],
        ],
        checks: [
          check(
            'tills oversell less than 0.5 % of the placed orders',
            share < maxShare ? [] : [`${oversoldUnits} of ${placed}`],
            placed,
          ),
          check('each oversold round raises an alert with its units', unalerted),
        ],
      }
    },
    async close() {
      client.close()
      await simulator.close()
    },
  }
}

import type { BackOffices } from '../backoffice/back-offices.ts'
import { findOrderSkuIds, refreshStock as refreshStoredStock } from '../store/inventory/fresh-stock.ts'
import { forService, type Job, type ServiceJobRun } from './job.ts'

/**
 * Reads the stock of an order's SKUs from the back office right after an order or a return of them, instead of at the next sync. The subject
 * is the order. Stock is absolute, so it can run twice.
 */
export const refreshStock = (offices: Pick<BackOffices, 'getDriver'>): Job => ({
  run: forService(work => run(offices, work)),
  concurrency: 4,
  concurrencyPerService: 2,
  retryDelaysSeconds: [5, 30, 120],
})

async function run(
  offices: Pick<BackOffices, 'getDriver'>,
  { db, service, subject, signal }: ServiceJobRun,
): Promise<void> {
  const { fetchStock } = offices.getDriver(service)
  if (!fetchStock) return
  const skuIds = await findOrderSkuIds(db, service, subject)
  await refreshStoredStock(db, service, skuIds, requested => fetchStock(requested, signal))
}

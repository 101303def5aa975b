/**
 * The driver of Apparel21, a retail system with an XML interface (Retail API).
 * Layers: client/ sends requests, mapping/ converts records, queries/ looks up and caches, operations/ implements the port, syncs/ and
 * export-files/ read in bulk.
 * Guarantees: every error is an `ApiError`, and an in-doubt write can be found again by a number that its reference determines.
 */

import type { Db } from '../../database/db.ts'
import type { BackOfficeSettings } from '../../domain/tenancy/back-office-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { ApiError, ensureApiError } from '../../errors/api-error.ts'
import { listGatewayNames } from '../../store/tenancy/gateways.ts'
import type { BackOffice } from '../port/back-office.ts'
import { findMissingReferences, type ServiceConfiguration } from '../port/capabilities.ts'
import type { Driver, DriverLog, OnCall, OnCredentials, ProbeResult } from '../port/driver.ts'
import { exportCapabilities, loadCapabilities } from './capabilities.ts'
import type { Client } from './client/client.ts'
import type { Connection } from './client/connection.ts'
import type { ReleaseReader } from './client/release.ts'
import { createCouponWrites } from './operations/coupons.ts'
import { createOrderReads } from './operations/customer-orders.ts'
import { createCustomerWrites } from './operations/customers.ts'
import { createHistoryReads } from './operations/histories.ts'
import { createStockReads } from './operations/live-stock.ts'
import { createOrderWrites } from './operations/orders.ts'
import { createQuoteReads } from './operations/quotes.ts'
import { createRewardReads } from './operations/reward-accounts.ts'
import { createRewardWrites, finishRedemption } from './operations/reward-redemptions.ts'
import { findGiftCard, resolveGiftCardSkuId } from './operations/voucher-sale.ts'
import { createVoucherWrites } from './operations/vouchers.ts'
import { createUpstream, type Upstream } from './queries/upstream.ts'
import { fetchStockOfSkus } from './syncs/stock.ts'
import { buildSyncs } from './syncs/syncs.ts'
import { findElements, readText } from './xml/values.ts'

/** Creates the back office of one service. `hasExports`: its export files are imported as well. */
export const createApparel21 = (upstream: Upstream, service: Service, hasExports = false): BackOffice => ({
  ...createCustomerWrites(upstream),
  ...createOrderWrites(upstream),
  ...createVoucherWrites(upstream),
  ...createRewardReads(upstream),
  ...createRewardWrites(upstream),
  ...createHistoryReads(upstream),
  ...createOrderReads(upstream),
  ...createQuoteReads(upstream),
  ...createCouponWrites(upstream),
  ...createStockReads(upstream),
  unsupportedFields: hasExports ? new Map() : exportCapabilities,
  // Its free stock is net of all orders that it has.
  unshippedUnits: 'included',
  capabilities: async db => {
    const merchants = Object.keys(upstream.client.connection.gateways ?? {})
    return loadCapabilities(
      upstream.release,
      service,
      { hasExports, merchants },
      db && (await loadConfiguration(upstream, db, service)),
    )
  },
})

/** Checks which parts of the settings exist in the database and in the back office. */
async function loadConfiguration({ giftCards }: Upstream, db: Db, service: Service): Promise<ServiceConfiguration> {
  const [gateways, skuId, missingReferences] = await Promise.all([
    listGatewayNames(db, service),
    resolveGiftCardSkuId(db, service),
    findMissingReferences(db, service),
  ])
  const card = service.settings.vouchersEnabled ? await findGiftCard(db, service, skuId) : undefined
  // If the back office is unavailable, only the stored data counts.
  const unsold = card ? await giftCards.check(card).catch(ensureApiError) : []
  return {
    gateways,
    hasGiftCard: skuId !== undefined,
    missingReferences,
    unsold: unsold instanceof ApiError ? [] : unsold,
  }
}

export function openApparel21(
  settings: BackOfficeSettings,
  service: Service,
  log: DriverLog,
  onCredentials: OnCredentials = () => {},
  onCall: OnCall = () => {},
): Driver {
  let breaker: Driver['breaker'] = 'closed'
  const upstream = createUpstream({
    ...toConnection(settings, service),
    log,
    onBreaker(state) {
      breaker = state
    },
    onCredentials,
    onCall,
  })
  const { client, release } = upstream
  const syncs = buildSyncs(client, release, settings.syncIntervals)
  return {
    backOffice: forService => createApparel21(upstream, forService, settings.exportFolder !== undefined),
    isEmbedded: false,
    // The export files have all sales, including those without a customer.
    syncs: settings.exportFolder === undefined ? syncs : syncs.filter(({ name }) => name !== 'transactions'),
    source: `apparel21 ${client.connection.url} ${client.connection.countryCode}`,
    timeZone: client.connection.timeZone,
    get breaker() {
      return breaker
    },
    probe: () => probe(client, release),
    finishRedemption: finishRedemption(client),
    fetchStock: (skuIds, signal) => fetchStockOfSkus(client, skuIds, signal),
    close: client.close,
  }
}

function toConnection(settings: BackOfficeSettings, service: Service): Connection {
  const { url = '', country = '', user, password, ca, timeZone, version: release, gateways } = settings
  const { concurrency, syncShare } = settings
  return {
    url,
    countryCode: country,
    ...(user !== undefined && password !== undefined && { username: user, password }),
    ...(ca !== undefined && { ca }),
    timeZone: timeZone ?? service.settings.timeZone,
    ...(release !== undefined && { pinnedRelease: release }),
    ...(gateways !== undefined && { gateways }),
    limits: {
      ...(concurrency !== undefined && { concurrency: Number(concurrency) }),
      ...(syncShare !== undefined && { syncShare: Number(syncShare) }),
    },
  }
}

async function probe(client: Client, release: ReleaseReader): Promise<ProbeResult> {
  const installedRelease = await release.read()
  const { records } = await client.list({
    endpoint: 'stores',
    path: ['Stores'],
    roots: ['Stores', 'Store'],
    record: 'Store',
  })
  const stores = (await Array.fromAsync(records)).length
  return { release: installedRelease, stores, currency: await fetchCurrency(client) }
}

/** Returns the currency of the rewards programs. Returns undefined without programs, because the Retail API has no other source. */
async function fetchCurrency(client: Client): Promise<string | undefined> {
  try {
    const request = {
      endpoint: 'rewards',
      path: ['Rewards', 'Programs'],
      version: 1,
      roots: ['RewardPrograms'],
    } as const
    const [program] = findElements(await client.document(request), 'Program')
    const code = readText(program, 'Currency')?.toUpperCase() ?? ''
    return Intl.supportedValuesOf('currency').includes(code) ? code : undefined
  } catch (error) {
    if (error instanceof ApiError) return
    throw error
  }
}

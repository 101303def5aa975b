import type { Db } from '../../database/db.ts'
import type { BackOfficeSettings } from '../../domain/tenancy/back-office-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import type { Configured } from '../../domain/vouchers/issue.ts'
import { ApiError, asApiError } from '../../errors/api-error.ts'
import { gatewayNames } from '../../store/tenancy/gateways.ts'
import type { BackOffice } from '../port/back-office.ts'
import type { Driver, DriverLog, OnCall, OnCredentials, Sight } from '../port/driver.ts'
import { capabilitiesOf, exported } from './capabilities.ts'
import type { Client } from './client/client.ts'
import type { Connection } from './client/connection.ts'
import type { Release } from './client/release.ts'
import { orderReads } from './operations/customer-orders.ts'
import { customerWrites } from './operations/customers.ts'
import { historyReads } from './operations/histories.ts'
import { orderWrites } from './operations/orders.ts'
import { rewardReads } from './operations/reward-accounts.ts'
import { giftCardOf, soldAs } from './operations/voucher-sale.ts'
import { voucherWrites } from './operations/vouchers.ts'
import { openUpstream, type Upstream } from './queries/upstream.ts'
import { buildSyncs } from './syncs/syncs.ts'
import { every, text } from './xml/values.ts'

/** A retailer's Apparel21, by its Retail API. `hasExports`: its export files are read as well. */
export const apparel21 = (upstream: Upstream, service: Service, hasExports = false): BackOffice => ({
  ...customerWrites(upstream),
  ...orderWrites(upstream),
  ...voucherWrites(upstream),
  ...rewardReads(upstream),
  ...historyReads(upstream),
  ...orderReads(upstream),
  untold: hasExports ? new Map() : exported,
  capabilities: async db => {
    const merchants = Object.keys(upstream.client.connection.gateways ?? {})
    return capabilitiesOf(
      upstream.release,
      service,
      { hasExports, merchants },
      db && (await configured(upstream, db, service)),
    )
  },
})

/** What there is of what a service's settings name, in its tables and at the back office. */
async function configured({ giftCards }: Upstream, db: Db, service: Service): Promise<Configured> {
  const [gateways, skuId] = await Promise.all([gatewayNames(db, service), soldAs(db, service)])
  const card = service.settings.vouchersEnabled ? await giftCardOf(db, service, skuId) : undefined
  // One that does not answer is judged by what is known here.
  const unsold = card ? await giftCards.faultsOf(card).catch(asApiError) : []
  return { gateways, hasGiftCard: skuId !== undefined, unsold: unsold instanceof ApiError ? [] : unsold }
}

export function openApparel21(
  settings: BackOfficeSettings,
  service: Service,
  log: DriverLog,
  onCredentials: OnCredentials = () => {},
  onCall: OnCall = () => {},
): Driver {
  let breaker: Driver['breaker'] = 'closed'
  const upstream = openUpstream({
    ...connectionFrom(settings, service),
    log,
    onBreaker(state) {
      breaker = state
    },
    onCredentials,
    onCall,
  })
  const { client, release } = upstream
  const syncs = buildSyncs(client, release, settings.every)
  return {
    backOffice: of => apparel21(upstream, of, settings.exportFolder !== undefined),
    isOurs: false,
    // The files have every sale, also those of nobody in particular.
    syncs: settings.exportFolder === undefined ? syncs : syncs.filter(({ name }) => name !== 'transactions'),
    source: `apparel21 ${client.connection.url} ${client.connection.countryCode}`,
    get breaker() {
      return breaker
    },
    look: () => look(client, release),
    close: client.close,
  }
}

function connectionFrom(settings: BackOfficeSettings, service: Service): Connection {
  const { url = '', country = '', user, password, ca, timeZone, version: release, concurrency, gateways } = settings
  return {
    url,
    countryCode: country,
    ...(user !== undefined && password !== undefined && { username: user, password }),
    ...(ca !== undefined && { ca }),
    timeZone: timeZone ?? service.settings.timeZone,
    ...(release !== undefined && { pinnedRelease: release }),
    ...(gateways !== undefined && { gateways }),
    ...(concurrency !== undefined && { limits: { concurrency: Number(concurrency) } }),
  }
}

async function look(client: Client, release: Release): Promise<Sight> {
  const told = await release.read()
  const { records } = await client.list({
    endpoint: 'stores',
    path: ['Stores'],
    roots: ['Stores', 'Store'],
    record: 'Store',
  })
  const stores = (await Array.fromAsync(records)).length
  return { release: told, stores, currency: await currencyOf(client) }
}

/** That of the rewards programmes; where there are none, nothing says it for all. */
async function currencyOf(client: Client): Promise<string | undefined> {
  try {
    const asking = {
      endpoint: 'rewards',
      path: ['Rewards', 'Programs'],
      version: 1,
      roots: ['RewardPrograms'],
    } as const
    const [program] = every(await client.document(asking), 'Program')
    const code = text(program, 'Currency')?.toUpperCase() ?? ''
    return Intl.supportedValuesOf('currency').includes(code) ? code : undefined
  } catch (error) {
    if (error instanceof ApiError) return
    throw error
  }
}

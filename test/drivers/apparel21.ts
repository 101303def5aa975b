import type { Simulator } from '../../simulator/control/handle.ts'
import { type SimulatorOptions, startSimulator } from '../../simulator/simulator.ts'
import type { Connection } from '../../src/backoffice/apparel21/client/connection.ts'
import { createApparel21 } from '../../src/backoffice/apparel21/driver.ts'
import { createUpstream } from '../../src/backoffice/apparel21/queries/upstream.ts'
import { buildSyncs } from '../../src/backoffice/apparel21/syncs/syncs.ts'
import type { Service } from '../../src/domain/tenancy/service-settings.ts'
import { upsertGateways } from '../../src/store/tenancy/gateways.ts'
import { runSync } from '../../src/sync/sync.ts'
import { startTestApi, type TestApi } from '../support/service.ts'

/** Settings with which a service can sell vouchers through the simulator. */
export const settings = {
  currency: 'AUD',
  timeZone: 'Australia/Melbourne',
  vouchersEnabled: true,
  giftCardSku: '9001',
  voucherType: 'GV_EMAIL',
  // Most tests load no stock.
  oversell: 'allow',
  readsPerMinute: 'off',
  writesPerMinute: 'off',
} as const

/** Opens one back office client for all services, as a server process does. The caller closes `client`. */
export function connectToBackOffice({ url }: Pick<Simulator, 'url'>, connection: Partial<Connection> = {}) {
  const upstream = createUpstream({ url, countryCode: 'AU', timeZone: 'Australia/Melbourne', ...connection })
  return { ...upstream, upstream, backOffice: (service: Service) => createApparel21(upstream, service) }
}

/** An API server whose back office is an Apparel21 simulator. */
export interface Apparel21Api {
  simulator: Simulator
  api: TestApi
  /** Runs every sync once, so that our tables have all data of the back office. */
  sync(): Promise<void>
  stop(): Promise<void>
}

type Options = Parameters<typeof startTestApi>[0] & { simulatorOptions?: SimulatorOptions }

export async function startApparel21Api({ simulatorOptions = {}, ...options }: Options = {}): Promise<Apparel21Api> {
  const simulator = await startSimulator({
    sizes: { stores: 4, styles: 6, persons: 15, vouchers: 0 },
    ...simulatorOptions,
  })
  const { client, release, backOffice } = connectToBackOffice(simulator)
  const api = await startTestApi({ settings, ...options, backOffice })
  await upsertGateways(api.db, api.service, [{ name: 'paypal' }, { name: 'visa' }])
  return {
    simulator,
    api,
    async sync() {
      for (const sync of buildSyncs(client, release)) await runSync(api.db, api.service, sync)
    },
    async stop() {
      await api.stop()
      client.close()
      await simulator.close()
    },
  }
}

import type { BackOfficeSettings } from '../back-office-settings.ts'
import type { BackOffice } from '../domain/backoffice.ts'
import type { Driver, DriverLog, Sight } from '../domain/driver.ts'
import { ApiError } from '../errors.ts'
import type { Service } from '../settings.ts'
import { capabilitiesOf } from './apparel21/capabilities.ts'
import type { Connection, Log } from './apparel21/connection.ts'
import { customerWrites } from './apparel21/customers.ts'
import { feedsOf } from './apparel21/feeds.ts'
import { type Client, openClient } from './apparel21/http.ts'
import { orderWrites } from './apparel21/orders.ts'
import { type Release, releaseOf } from './apparel21/release.ts'
import { rewardReads } from './apparel21/reward-accounts.ts'
import { every, text } from './apparel21/values.ts'
import { voucherWrites } from './apparel21/vouchers.ts'

/** A retailer's Apparel21, by its Retail API. `hasExports`: its export files are read as well. */
export const apparel21 = (client: Client, release: Release, service: Service, hasExports = false): BackOffice => ({
  ...customerWrites(client, release),
  ...orderWrites(client, release),
  ...voucherWrites(client, release),
  ...rewardReads(client),
  capabilities: () => capabilitiesOf(release, service, hasExports),
})

export function openApparel21(settings: BackOfficeSettings, service: Service, log: DriverLog): Driver {
  const watched = watching(log)
  const client = openClient(connectionFrom(settings, service, watched.log))
  const release = releaseOf(client)
  const feeds = feedsOf(client, release)
  return {
    backOffice: of => apparel21(client, release, of, settings.exports !== undefined),
    // The files have every sale, also those of nobody in particular; taken from both, lines would be there twice.
    feeds: settings.exports === undefined ? feeds : feeds.filter(({ name }) => name !== 'transactions'),
    source: `apparel21 ${client.connection.url} ${client.connection.countryCode}`,
    get breaker() {
      return watched.breaker
    },
    look: () => look(client, release),
    close: client.close,
  }
}

function connectionFrom(settings: BackOfficeSettings, service: Service, log: Log): Connection {
  const { url = '', country = '', user, password, ca, timeZone, release } = settings
  return {
    url,
    countryCode: country,
    ...(user !== undefined && password !== undefined && { username: user, password }),
    ...(ca !== undefined && { ca }),
    timeZone: timeZone ?? service.settings.timeZone,
    ...(release !== undefined && { pinnedRelease: release }),
    log,
  }
}

/** A log that hears what the breaker says of itself: nothing else tells. */
function watching(log: DriverLog) {
  const watched: { breaker: 'closed' | 'open'; log: Log } = {
    breaker: 'closed',
    log: {
      info: (facts, message) => log.info(facts, message),
      warn(facts, message) {
        const { state } = facts as { state?: unknown }
        if (state === 'open' || state === 'closed') watched.breaker = state
        log.warn(facts, message)
      },
    },
  }
  return watched
}

async function look(client: Client, release: Release): Promise<Sight> {
  const told = await release.read()
  const { records } = await client.list({
    ...{ endpoint: 'stores', path: ['Stores'], roots: ['Stores', 'Store'], record: 'Store' },
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

import { readConfig } from '../../config/config.ts'
import type { Keys } from '../../crypto/keys.ts'
import type { Database } from '../../database/db.ts'
import type { ConnectionSettings } from '../../domain/ecommerce/connection-settings.ts'
import { PlatformFailure } from '../../domain/ecommerce/platform-failure.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { getEventPath, getEventUrl, openPlatform } from '../../ecommerce/connections.ts'
import type { EventPort, SubscriptionState } from '../../ecommerce/port/events.ts'
import { recordSubscriptions } from '../../store/ecommerce/connections.ts'
import { createQuietLog } from '../terminal/session.ts'

const timeoutMs = 120_000

/**
 * Runs work on the events of the platform of a service, if it sends any. Returns the error message of a platform that rejects it or is
 * unreachable.
 */
async function withEvents<T>(
  db: Database,
  keys: Keys,
  service: Service,
  work: (events: EventPort, signal: AbortSignal, settings: ConnectionSettings) => Promise<T>,
): Promise<T | { problem: string } | undefined> {
  try {
    const opened = await openPlatform(db, keys, service, createQuietLog())
    const events = opened?.platform.events
    return events && (await work(events, AbortSignal.timeout(timeoutMs), opened.settings))
  } catch (error) {
    if (error instanceof PlatformFailure) return { problem: `${error.message} (${error.kind})` }
    throw error
  }
}

/** Reads the subscriptions, and stores the result for `GET /ecommerce`. */
async function readSubscriptions(db: Database, service: Service, events: EventPort, url: string, signal: AbortSignal) {
  const state = await events.read(url, signal)
  const missing = [...state.missing, ...state.denied.map(({ topic }) => topic)]
  await recordSubscriptions(db, service, { wanted: state.present.length + missing.length, missing })
  return state
}

/** Creates or deletes the subscriptions, as the stored setting says, and prints the result. The hourly check creates what is missing later. */
export async function updateSubscriptions(db: Database, keys: Keys, service: Service): Promise<void> {
  const result = await withEvents(db, keys, service, async (events, signal, settings) => {
    const { publicUrl } = readConfig()
    if (settings.events !== 'on' || publicUrl === undefined) return events.remove(getEventPath(service), signal)
    const url = getEventUrl(publicUrl, service)
    await events.ensure(url, signal)
    return readSubscriptions(db, service, events, url, signal)
  })
  if (!result) console.log('The platform sends no events any more.')
  else if ('problem' in result)
    console.error(`The subscriptions could not be changed: ${result.problem} Run the command again.`)
  else console.log(describe(result).join('\n'))
}

/** Deletes the subscriptions before the connection is removed. A platform that is unreachable deletes them after failed deliveries. */
export async function removeSubscriptions(db: Database, keys: Keys, service: Service): Promise<void> {
  const result = await withEvents(db, keys, service, (events, signal) => events.remove(getEventPath(service), signal))
  if (result) console.error(`The platform still sends events: ${result.problem}`)
}

/** Returns a description of what the platform sends, and a sentence for each problem that a command can solve. */
export async function checkSubscriptions(db: Database, keys: Keys, service: Service) {
  const { publicUrl } = readConfig()
  if (publicUrl === undefined) return { description: 'Events: unknown, because PUBLIC_URL is not set.', problems: [] }
  const state = await withEvents(db, keys, service, (events, signal) =>
    readSubscriptions(db, service, events, getEventUrl(publicUrl, service), signal),
  )
  if (!state) return { description: 'Events: none, because the connection was removed.', problems: [] }
  if ('problem' in state) return { description: `Events: unknown. ${state.problem}`, problems: [] }
  const problem = `The platform doesn't send ${state.missing.join(', ')}. To subscribe again: tillbridge ecommerce set ${service.name} events=on`
  return { description: describe(state).join('\n'), problems: state.missing.length ? [problem] : [] }
}

function describe({ present, missing, denied }: SubscriptionState): string[] {
  return [
    `Events: ${present.length} of ${present.length + missing.length} topics are sent.`,
    ...(missing.length ? [`Missing: ${missing.join(', ')}.`] : []),
    ...denied.map(({ topic, scope }) => `${topic} needs the scope ${scope}.`),
  ]
}

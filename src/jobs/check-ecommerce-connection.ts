import { getEventUrl, openPlatform } from '../ecommerce/connections.ts'
import { alertPlatformFailure } from '../ecommerce/platform-alerts.ts'
import { raiseAlert, resolveAlert } from '../store/alerts/alerts.ts'
import { recordSubscriptions } from '../store/ecommerce/connections.ts'
import type { ServiceJobRun } from './job.ts'

const intervalSeconds = 3_600
const [dayMs, warningDays] = [86_400_000, 90]

/** Checks the connection of a service hourly: its credentials, its scopes, the end of its API version, and its event subscriptions. */
export async function checkEcommerceConnection({
  db,
  keys,
  log,
  service,
  signal,
  publicUrl,
  reschedule,
}: ServiceJobRun) {
  const opened = await openPlatform(db, keys, service, log)
  if (!opened) return
  const { missingScopes, version } = await alertPlatformFailure(db, service, 'connection', () =>
    opened.platform.probe(signal),
  )
  if (missingScopes.length)
    await raiseAlert(db, service.id, {
      kind: 'scope_missing',
      subject: 'connection',
      detail: `Missing: ${missingScopes.join(', ')}.`,
    })
  const versionAlert = { kind: 'api_version_ending', subject: '' } as const
  if (version && Date.parse(version.endsOn) - Date.now() <= warningDays * dayMs) {
    const detail = `API version ${version.name} is supported until ${version.endsOn}.`
    await raiseAlert(db, service.id, { ...versionAlert, detail })
  } else await resolveAlert(db, service.id, versionAlert)
  const { events } = opened.platform
  if (events && opened.settings.events === 'on' && publicUrl !== undefined) {
    const { present, missing, denied } = await events.ensure(getEventUrl(publicUrl, service), signal)
    await recordSubscriptions(db, service, {
      wanted: present.length + missing.length + denied.length,
      missing: denied.map(({ topic }) => topic),
    })
    const alert = { kind: 'subscription_missing', subject: '' } as const
    if (missing.length) await raiseAlert(db, service.id, { ...alert, detail: `Created: ${missing.join(', ')}.` })
    else await resolveAlert(db, service.id, alert)
  }
  reschedule(intervalSeconds)
}

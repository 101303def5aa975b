import { getEventUrl, openPlatform } from '../ecommerce/connections.ts'
import { alertPlatformFailure } from '../ecommerce/platform-alerts.ts'
import { raiseAlert, resolveAlert } from '../store/alerts/alerts.ts'
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
  const { missingScopes, apiVersion, versionEndsOn } = await alertPlatformFailure(db, service, 'connection', () =>
    opened.platform.probe(signal),
  )
  if (missingScopes.length)
    await raiseAlert(db, service.id, {
      kind: 'scope_missing',
      subject: 'connection',
      detail: `Missing: ${missingScopes.join(', ')}.`,
    })
  const ending = { kind: 'api_version_ending', subject: '' } as const
  const daysLeft = Math.ceil((Date.parse(versionEndsOn) - Date.now()) / dayMs)
  if (daysLeft > warningDays) await resolveAlert(db, service.id, ending)
  else {
    const detail = `API version ${apiVersion} is supported until ${versionEndsOn}.`
    await raiseAlert(db, service.id, { ...ending, detail })
  }
  if (opened.settings.events === 'on' && publicUrl !== undefined) {
    const { missing } = await opened.platform.events.ensure(getEventUrl(publicUrl, service), signal)
    const alert = { kind: 'subscription_missing', subject: '' } as const
    if (missing.length) await raiseAlert(db, service.id, { ...alert, detail: `Created: ${missing.join(', ')}.` })
    else await resolveAlert(db, service.id, alert)
  }
  reschedule(intervalSeconds)
}

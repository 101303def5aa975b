import type { Db } from '../database/db.ts'
import { PlatformFailure } from '../domain/ecommerce/platform-failure.ts'
import type { Service } from '../domain/tenancy/service-settings.ts'
import { type Alert, raiseAlert, resolveAlert } from '../store/alerts/alerts.ts'

/** The alerts of failures that a person must fix. Credentials concern all work, a scope concerns one kind of it (`subject`). */
const getAlerts = (subject: string) =>
  ({
    denied: { kind: 'ecommerce_denied', subject: '' },
    scope: { kind: 'scope_missing', subject },
  }) as const satisfies Record<string, Pick<Alert, 'kind' | 'subject'>>

/** Runs work that calls the platform. Rejected credentials and missing scopes raise an alert, and success resolves it. */
export async function alertPlatformFailure<T>(
  db: Db,
  service: Service,
  subject: string,
  work: () => Promise<T>,
): Promise<T> {
  const alerts = getAlerts(subject)
  try {
    const result = await work()
    if (result !== undefined) for (const alert of Object.values(alerts)) await resolveAlert(db, service.id, alert)
    return result
  } catch (error) {
    if (error instanceof PlatformFailure && (error.kind === 'denied' || error.kind === 'scope'))
      await raiseAlert(db, service.id, { ...alerts[error.kind], detail: error.message })
    throw error
  }
}

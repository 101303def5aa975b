import { type Static, Type } from '../../schemas/schemas.ts'
import type { AlertRecord } from '../alerts.ts'
import type { Sync, SyncRun } from '../sync/syncs.ts'
import { Id, Instant, Nullable, OneOf, Text } from '../values/fields.ts'
import type { Webhook } from '../webhooks/webhooks.ts'

/** `ok`: nothing to do. `degraded`: works, but incompletely. `critical`: an operator must act. */
const healthLevels = ['ok', 'degraded', 'critical'] as const
type HealthLevel = (typeof healthLevels)[number]

/** A state in words with its level. The level is null before the first result. */
interface Assessment {
  state: string
  level: HealthLevel | null
}

// The console shows the same states, so src/console/assets.ts sends it the source of these functions. They can call each other and `t`, but
// can't use other values of this module.

/** Inserts numbers into a text. The console has a function of the same name, which also translates the text (console/lib/text.js). */
const t = (english: string, values: Record<string, number> = {}) =>
  english.replace(/\{(\w+)\}/g, (_, name: string) => (values[name] ?? 0).toLocaleString('en'))

/** Formats a duration in its largest suitable unit. */
export function formatDuration(seconds: number) {
  const rounded = Math.max(0, Math.round(seconds))
  if (rounded < 90) return t('{count} s', { count: rounded })
  if (rounded < 5_400) return t('{count} min', { count: Math.round(rounded / 60) })
  if (rounded < 129_600) return t('{count} h', { count: Math.round(rounded / 3_600) })
  return t('{count} days', { count: Math.round(rounded / 86_400) })
}

/** Assesses a run of a sync. Rejected records degrade it, and so do skipped ones, except lines of a file that are no records. */
export function assessRun({ origin, state, read, rejected, skipped }: SyncRun): Assessment {
  if (state === 'running') return { state, level: null }
  if (state !== 'ok') return { state, level: 'critical' }
  if (rejected > 0 && rejected >= read) return { state: t('all rejected'), level: 'critical' }
  const problems = [
    ...(rejected > 0 ? [t('{count} rejected', { count: rejected })] : []),
    ...(skipped > 0 && origin !== 'file' ? [t('{count} skipped', { count: skipped })] : []),
  ]
  return problems.length ? { state: problems.join(', '), level: 'degraded' } : { state, level: 'ok' }
}

/** Assesses an import of a file, or its dry run. */
export function assessImport(run: SyncRun, isDryRun: boolean): Assessment {
  const { state, read, rejected } = run
  if (state !== 'ok') return assessRun(run)
  if (rejected === 0) return { state: isDryRun ? t('all lines valid') : t('imported'), level: 'ok' }
  if (rejected >= read) return { state: t('all lines rejected'), level: 'critical' }
  return {
    state: t('{rejected} of {read} lines rejected', { rejected, read }),
    level: 'degraded',
  }
}

/** Assesses a sync: overdue, or the result of its last run. */
export function assessSync({ origin, isOverdue, state, lastRun, intervalSeconds }: Sync): Assessment {
  // The service has another back office now, which doesn't have this sync.
  if (origin !== 'file' && intervalSeconds === null && lastRun?.origin !== 'file')
    return { state: t('not scheduled'), level: null }
  if (isOverdue) return { state: state === 'failed' ? state : t('late'), level: 'critical' }
  if (state === 'ok' && lastRun) return assessRun(lastRun)
  if (state === 'none') return { state: t('never ran'), level: null }
  return { state, level: state === 'failed' ? 'critical' : null }
}

/** Assesses an endpoint. A failed last delivery degrades it. A lag of more than 5 minutes is critical. */
export function assessWebhook({ state, lag, lastSuccessAt, lastFailure }: Webhook): Assessment {
  if (state === 'failing') return { state, level: 'critical' }
  if (state === 'paused') return { state, level: 'degraded' }
  const isLagging = lag.seconds > 300
  // Without a success, the comparison with NaN is false, so the failure counts.
  const hasFailed = lastFailure && !(Date.parse(lastFailure.at) < Date.parse(lastSuccessAt ?? ''))
  if (hasFailed) return { state: t('last delivery failed'), level: isLagging ? 'critical' : 'degraded' }
  return isLagging ? { state: t('behind'), level: 'critical' } : { state, level: 'ok' }
}

/** A problem that needs attention, and the health of a service. */
type HealthProblem = Static<typeof HealthProblem>
const HealthProblem = Type.Object(
  {
    level: OneOf('`degraded`: works, but incompletely. `critical`: an operator must act.', ['degraded', 'critical']),
    kind: Text(
      '`back_office_unavailable`, `sync_unhealthy`, `import_unhealthy`, `webhook_unhealthy`, `webhook_paused`, or the kind of an alert.',
      'sync_unhealthy',
    ),
    subject: Text('The affected sync, webhook or subject of the alert. Empty if it is the service.', 'stock', 500),
    title: Text('The problem, for people.', 'stock is late: 16 min old, due every 5 min', 2_500),
    detail: Nullable(Text('More about it.', 'back_office_unavailable: The back office cannot be reached.', 4_000)),
    alert: Nullable(
      Id('The alert about the problem, if there is one (see `GET /alerts`).', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    ),
    since: Nullable(
      Instant(
        'When the problem began. For a sync without an alert, the end of its last run. Null if unknown.',
        '2026-11-21T09:30:09Z',
      ),
    ),
  },
  { $id: 'HealthProblem', additionalProperties: false },
)
export const Health = Type.Object(
  {
    level: OneOf('The worst level of the problems. `ok`: nothing needs attention.', healthLevels),
    problems: Type.Array(HealthProblem, { description: 'The problems, worst first.' }),
    lastBackupAt: Nullable(Instant('Newest backup of the database. Null: none, or you are not an admin.')),
  },
  { $id: 'Health', additionalProperties: false },
)

/** The state from which the health of a service is derived. `breaker`: the circuit breaker of the back office. */
interface ServiceState {
  syncs: readonly Sync[]
  webhooks: readonly Webhook[]
  alerts: readonly AlertRecord[]
  breaker: 'open' | 'closed' | null
  lastBackupAt: Date | undefined
  now: Date
}

/** Alerts that need no action now. */
const mildAlerts: ReadonlySet<string> = new Set([
  'voucher_pin_guessing_by_ip',
  'unknown_return_status',
  'database_clock_set_back',
])

/** Rejected lines of a file are a problem for this long, because no later run removes them. */
const importProblemMs = 24 * 3_600_000

/**
 * Derives the health of a service from its current state and its alerts. An alert comes later, after several failures. If it is about the
 * sync or webhook of a problem, it is part of that problem and makes it critical.
 */
export function assessService(state: ServiceState): Static<typeof Health> {
  const { syncs, webhooks, alerts, breaker, lastBackupAt, now } = state
  const current = [
    ...(breaker === 'open' ? [backOfficeProblem] : []),
    ...syncs.flatMap(sync => findSyncProblem(sync, now)),
    ...webhooks.flatMap(findWebhookProblem),
  ]
  const alertsByTopic = Map.groupBy(alerts, getTopic)
  const problems = current.map((problem): HealthProblem => {
    const [alert] = alertsByTopic.get(getTopic(problem)) ?? []
    return alert ? { ...problem, level: 'critical', alert: alert.id, since: alert.since } : problem
  })
  const currentTopics = new Set(current.map(getTopic))
  problems.push(...alerts.filter(alert => !currentTopics.has(getTopic(alert))).map(toProblem))
  const critical = problems.filter(({ level }) => level === 'critical')
  const degraded = problems.filter(({ level }) => level === 'degraded')
  return {
    level: critical.length ? 'critical' : degraded.length ? 'degraded' : 'ok',
    problems: [...critical, ...degraded],
    lastBackupAt: lastBackupAt?.toISOString() ?? null,
  }
}

/** Returns a key that a problem and the alerts about the same sync or webhook share. */
const getTopic = ({ kind, subject }: { kind: string; subject: string }) =>
  `${/^(?:sync|webhook)_/.exec(kind)?.[0] ?? kind} ${subject}`

const backOfficeProblem: HealthProblem = {
  level: 'critical',
  kind: 'back_office_unavailable',
  subject: '',
  title: "The back office isn't responding",
  detail: 'Calls to it are paused. Tillbridge tries again every few seconds.',
  alert: null,
  since: null,
}

function findSyncProblem(sync: Sync, now: Date): HealthProblem[] {
  const { sync: subject, isOverdue, lagSeconds, intervalSeconds, lastRun, detail } = sync
  const { state, level } = assessSync(sync)
  const isFile = lastRun?.origin === 'file'
  const isOld = isFile && now.getTime() - Date.parse(lastRun.startedAt) > importProblemMs
  if (level === null || level === 'ok' || sync.state === 'running' || (isOld && !isOverdue)) return []
  const age = lagSeconds === null ? 'never synced' : `${formatDuration(lagSeconds)} old`
  const notes = lastRun?.notes.map(({ note, count }) => `${count} × ${note}`).join('; ')
  return [
    {
      level,
      kind: isFile ? 'import_unhealthy' : 'sync_unhealthy',
      subject,
      title: isOverdue
        ? `${subject} is late: ${age}, due every ${formatDuration(intervalSeconds ?? 0)}`
        : `${isFile ? 'Import' : 'Sync'} of ${subject}: ${state}`,
      detail: detail ?? (notes ? notes.slice(0, 4_000) : null),
      alert: null,
      since: lastRun?.endedAt ?? null,
    },
  ]
}

function findWebhookProblem(webhook: Webhook): HealthProblem[] {
  const { id, url, lag, lastFailure, stateReason } = webhook
  const { state, level } = assessWebhook(webhook)
  if (level === null || level === 'ok') return []
  const details = [
    stateReason ?? lastFailure?.detail,
    lag.seconds > 0 && `Changes have been waiting for ${formatDuration(lag.seconds)}.`,
  ]
  return [
    {
      level,
      kind: webhook.state === 'paused' ? 'webhook_paused' : 'webhook_unhealthy',
      subject: id,
      title: `Webhook ${url}: ${state}`,
      detail: details.filter(Boolean).join(' ') || null,
      alert: null,
      since: lag.pendingSince,
    },
  ]
}

const toProblem = ({ id, kind, subject, title, detail, since }: AlertRecord): HealthProblem => ({
  level: mildAlerts.has(kind) ? 'degraded' : 'critical',
  kind,
  subject,
  title,
  detail,
  alert: id,
  since,
})

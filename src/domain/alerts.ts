import { type Static, Type } from '../schemas/schemas.ts'
import { Flag, Id, Instant, Integer, Nullable, Text } from './values/fields.ts'

export interface AlertKind {
  /** The problem. `{subject}` is replaced. */
  title: string
  /** The steps to fix it. `{subject}` is replaced by the alert's subject, `{service}` by the name of the service. */
  remedy: string
  /** The API path with details, if there is one. `{subject}` is replaced. */
  path?: string
  /** True if the alert disappears when its cause is fixed. */
  autoResolves: boolean
}

/** Every kind of alert with its remedy. */
export const alertKinds = {
  back_office_denied: {
    title: 'Back office rejected the credentials',
    remedy:
      'Update them with `tillbridge back-office set {service} user=…`, then run `tillbridge back-office test {service}`.',
    path: '/syncs',
    autoResolves: true,
  },
  ecommerce_denied: {
    title: 'E-commerce platform rejected the credentials',
    remedy:
      'Set a new secret with `tillbridge ecommerce set {service} clientId=…`, then run `tillbridge ecommerce test {service}`.',
    path: '/syncs',
    autoResolves: true,
  },
  scope_missing: {
    title: "The app on the e-commerce platform can't read everything",
    remedy: 'Run `tillbridge ecommerce test {service}`, and grant the scopes that it names to the app.',
    path: '/syncs',
    autoResolves: true,
  },
  stock_push_stopped: {
    title: 'Stock push stopped: most stocked levels would fall to zero',
    remedy:
      'Check our stock and the mapping of locations. `tillbridge ecommerce reconcile {service}` lists the differences. If they are right, add `--apply`.',
    path: '/ecommerce',
    autoResolves: true,
  },
  stock_drift: {
    title: 'Stock on the e-commerce platform was changed by others',
    remedy:
      'Find out who changes stock on the platform: the drift of GET /ecommerce/reconciliations has `changedBy`. The stock push has corrected it.',
    path: '/ecommerce',
    autoResolves: true,
  },
  subscription_missing: {
    title: 'The e-commerce platform had stopped sending events',
    remedy:
      'They are sent again. Check that the platform can reach POST /ecommerce/events and gets a response within 5 seconds.',
    path: '/ecommerce',
    autoResolves: true,
  },
  api_version_ending: {
    title: 'API version of the e-commerce platform ends soon',
    remedy: 'Upgrade Tillbridge, then run `tillbridge ecommerce set {service} apiVersion=…` with a newer version.',
    path: '/ecommerce',
    autoResolves: true,
  },
  sync_failing: {
    title: 'Sync keeps failing',
    remedy:
      "Open the sync's last runs to see the back office's error. It retries automatically; POST /syncs/{subject}/run retries immediately.",
    path: '/syncs/{subject}/runs',
    autoResolves: true,
  },
  sync_stalled: {
    title: 'Sync is overdue',
    remedy:
      'Check whether runs fail or take too long, and that a worker is running (GET /capabilities). POST /syncs/{subject}/run starts a run.',
    path: '/syncs/{subject}/runs',
    autoResolves: true,
  },
  stock_oversold: {
    title: 'More units are sold or reserved than there are: {subject}',
    remedy:
      'Tills have sold the units, or a count has corrected them. Move units to this store, or cancel an order of the SKU and contact its shopper.',
    path: '/inventory/{subject}',
    autoResolves: true,
  },
  unknown_return_status: {
    title: "The back office has a return status that Tillbridge doesn't know: {subject}",
    remedy:
      'Returns with this status keep their last known status. Report the word, or complete these returns in the back office.',
    autoResolves: false,
  },
  export_folder_unreadable: {
    title: 'Export folder is unreadable',
    remedy: 'Check address, user and key with `tillbridge back-office test {service}`.',
    autoResolves: true,
  },
  export_file_rejected: {
    title: 'Export file has rejected lines',
    remedy:
      'Correct the `.rejected.ndjson` in `failed/` and import it, then run `tillbridge alert resolve export_file_rejected --service {service}`. If the whole file was rejected, correct it and put it back.',
    autoResolves: false,
  },
  database_clock_set_back: {
    title: 'The clock of PostgreSQL was ahead and was set back',
    remedy:
      'Synchronize the clock of the database server by NTP. No change is hidden or lost: change timestamps run ahead of the clock until it has caught up. `tillbridge doctor` shows until when.',
    autoResolves: true,
  },
  email_failed: {
    title: 'Voucher email could not be sent',
    remedy: 'Fix the cause, then run `tillbridge mail retry {subject} --service {service}`. The voucher is valid.',
    autoResolves: true,
  },
  email_server_rejecting: {
    title: 'Mail server is rejecting emails',
    remedy: 'Check the mail server and `SMTP_URL`. Queued emails are sent automatically.',
    autoResolves: true,
  },
  voucher_pin_guessing: {
    title: 'Repeated wrong PINs for a voucher',
    remedy:
      "Ask the holder. If it wasn't them, suspend the voucher: in the back office if it manages vouchers, otherwise with `tillbridge voucher suspend {subject} --service {service}`. The block ends automatically.",
    autoResolves: false,
  },
  voucher_pin_guessing_by_ip: {
    title: 'PIN guessing from one IP address',
    remedy: 'No action is needed now. If it continues, block the IP address at your proxy.',
    autoResolves: false,
  },
  voucher_pin_guessing_by_account: {
    title: 'PIN guessing through account {subject}',
    remedy:
      "Add a challenge before the PIN form in that shop. If the shop isn't the source, its password may have leaked: rotate it and revoke the old one.",
    autoResolves: false,
  },
  webhook_failing: {
    title: 'Webhook endpoint has been failing for an hour',
    remedy:
      'Check the latest attempts. Nothing is lost: delivery resumes when the endpoint responds. POST /webhooks/{subject}/test tries it immediately.',
    path: '/webhooks/{subject}/attempts',
    autoResolves: true,
  },
  webhook_expired: {
    title: 'Webhook paused: endpoint was down too long',
    remedy:
      'Deleted records since its last delivery can no longer be reported. Replay from the beginning (POST /webhooks/{subject}/rewind), then resume it (POST /webhooks/{subject}/resume).',
    path: '/webhooks/{subject}',
    autoResolves: true,
  },
} as const satisfies Record<string, AlertKind>

export type AlertName = keyof typeof alertKinds

/** Returns the remedy of an alert, with its subject and service. */
export const getRemedy = ({ kind, subject, service }: { kind: AlertName; subject: string; service: string }) =>
  alertKinds[kind]?.remedy.replaceAll('{service}', () => service).replaceAll('{subject}', () => subject) ?? ''

/** A problem that needs attention. */
export type AlertRecord = Static<typeof AlertRecord>
export const AlertRecord = Type.Object(
  {
    id: Id('The ID of the alert.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    kind: Text('The kind of problem. Stable, for programs.', 'sync_failing'),
    subject: Text('The affected sync, file, email, voucher, account or webhook. Empty if it is the service.', 'stock'),
    title: Text('The problem, for people.', 'Sync keeps failing'),
    detail: Text('The details of the last occurrence.', 'back_office_unavailable (5 times)', 1_000),
    remedy: Text(
      'The steps to fix it.',
      "Open the sync's last runs to see the back office's error. It retries automatically; POST /syncs/stock/run retries immediately.",
      1_000,
    ),
    path: Nullable(Text('The API path with details.', '/syncs/stock/runs', 500)),
    autoResolves: Flag('True if the alert disappears when its cause is fixed.'),
    times: Integer('The number of occurrences.', 3, { minimum: 1 }),
    since: Instant('The first occurrence.'),
    lastAt: Instant('The last occurrence.'),
  },
  { $id: 'Alert', additionalProperties: false },
)

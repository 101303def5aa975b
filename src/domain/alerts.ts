import { type Static, Type } from '../schemas/schemas.ts'
import { Flag, Id, Instant, Nullable, Text, Whole } from './values/fields.ts'

interface AlertKind {
  /** What has happened. */
  title: string
  /** What to do about it. `{subject}` stands for what it has happened to, `{service}` for the name of the service. */
  wayOut: string
  /** The path that tells more, where there is one. */
  path?: string
  /** It goes by itself once what it is about is well again. */
  settlesItself: boolean
}

/** Every kind of alert, and the way out of it. */
export const alertKinds = {
  back_office_denied: {
    title: 'The back office refuses our user and password.',
    wayOut:
      'Set the right ones: `tillbridge back-office set {service} user=…` asks for the password, and `tillbridge back-office test {service}` tries them.',
    path: '/syncs',
    settlesItself: true,
  },
  sync_failing: {
    title: 'A sync cannot be pulled.',
    wayOut:
      'The last runs of the sync say what the back office answers. It is tried again by itself; POST /syncs/{subject}/run tries it now.',
    path: '/syncs/{subject}/runs',
    settlesItself: true,
  },
  sync_stalled: {
    title: 'A sync has not been pulled for three times as long as it should.',
    wayOut:
      'See whether its runs fail or take too long, and whether a process does jobs (GET /capabilities); POST /syncs/{subject}/run pulls it now.',
    path: '/syncs/{subject}/runs',
    settlesItself: true,
  },
  exports_unreadable: {
    title: 'The folder of the exports cannot be read.',
    wayOut:
      'See whether the address, the user and the key of the exports are right: `tillbridge back-office test {service}`.',
    settlesItself: true,
  },
  export_refused: {
    title: 'Lines of an export were refused.',
    wayOut:
      'The refused lines lie beside the file in failed/, in a .rejected.ndjson with reasons: mend them, import that (`tillbridge import --help`), and settle this: `tillbridge alert settle export_refused --service {service}`. A file that was refused as a whole is put back once it is mended.',
    settlesItself: false,
  },
  mail_failed: {
    title: 'An e-mail with a voucher was given up.',
    wayOut:
      'Mend the reason, then send it again: `tillbridge mail retry {subject} --service {service}`. The voucher itself is good.',
    settlesItself: true,
  },
  mail_server_refuses: {
    title: 'The mail server takes no e-mails of ours.',
    wayOut: 'See to the mail server, or to SMTP_URL. E-mails wait meanwhile, and go out by themselves.',
    settlesItself: true,
  },
  voucher_refused: {
    title: 'A voucher was tried with wrong PINs.',
    wayOut:
      'Ask its holder whether it was them; else suspend it: in the back office where that keeps the vouchers, else by `tillbridge voucher suspend {subject} --service {service}`. It answers again by itself after a while.',
    settlesItself: false,
  },
  voucher_address_refused: {
    title: 'Somebody tried many wrong voucher PINs from one address.',
    wayOut:
      'Nothing has to be done for the moment to pass. Where it goes on, find out who it is, and block the address in front of the service.',
    settlesItself: false,
  },
  voucher_account_refused: {
    title: 'An account, or its shoppers, tried many wrong voucher PINs.',
    wayOut:
      'Look at what the shop behind the account {subject} lets shoppers do; a challenge in front of the PIN helps. Where it was not the shop, its key has leaked: give it another password, and end the old one.',
    settlesItself: false,
  },
  webhook_failing: {
    title: 'A webhook has taken nothing for an hour.',
    wayOut:
      'Its attempts say what the endpoint answers. Nothing is lost: it is told once it answers again; POST /webhooks/{subject}/test tries it now.',
    path: '/webhooks/{subject}/attempts',
    settlesItself: true,
  },
  webhook_expired: {
    title: 'A webhook was away for too long, and is paused.',
    wayOut:
      'What has left the data since its place is forgotten: POST /webhooks/{subject}/rewind to the beginning, and POST /webhooks/{subject}/resume.',
    path: '/webhooks/{subject}',
    settlesItself: true,
  },
} as const satisfies Record<string, AlertKind>

export type AlertName = keyof typeof alertKinds

/** What to do about an alert. */
export const wayOutOf = ({ kind, subject, service }: { kind: AlertName; subject: string; service: string }) =>
  alertKinds[kind]?.wayOut.replaceAll('{service}', () => service).replaceAll('{subject}', () => subject) ?? ''

/** Something that somebody has to look at. */
export type AlertRecord = Static<typeof AlertRecord>
export const AlertRecord = Type.Object(
  {
    id: Id('The identifier of the alert.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
    kind: Text('What has happened, in a word that does not change.', 'sync_failing'),
    subject: Text('What it has happened to; empty where it is the service.', 'stock'),
    title: Text('What has happened.', 'A sync cannot be pulled.'),
    detail: Text('What was met.', 'back_office_unavailable (5 times)', 1_000),
    wayOut: Text('What to do about it.', 'The last runs of the sync say what the back office answers.', 1_000),
    path: Nullable(Text('The path that tells more.', '/syncs/stock/runs', 500)),
    settlesItself: Flag('Whether it goes by itself once what it is about is well again.'),
    times: Whole('How often it has happened.', 3, { minimum: 1 }),
    since: Instant('When it first happened.'),
    lastAt: Instant('When it last happened.'),
  },
  { $id: 'Alert', additionalProperties: false },
)

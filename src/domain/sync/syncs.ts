import { type Static, Type } from '../../schemas/schemas.ts'
import { Count, Flag, Id, Instant, Integer, Nullable, OneOf, Text } from '../values/fields.ts'

const origin = OneOf(
  '`backOffice`: read from the back office. `ecommerce`: read from the e-commerce platform. `file`: imported files.',
  ['backOffice', 'ecommerce', 'file'],
)

export const syncName = { description: 'The sync.', example: 'stock' }

const Note = Type.Object(
  {
    note: Text('The remark.', 'stock of an unknown SKU: skipped', 500),
    count: Count('How often it applies.', 3),
  },
  { $id: 'SyncNote', additionalProperties: false },
)

const run = {
  id: Id('The ID of the run.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
  sync: Text('The sync, or the import type of a file.', 'stock'),
  origin,
  full: Flag('True for a full sync.', false),
  state: OneOf('`interrupted`: the process of the run ended. The next run repeats the work.', [
    'ok',
    'running',
    'failed',
    'interrupted',
  ]),
  startedAt: Instant('When the run started.', '2026-11-21T09:30:04Z'),
  endedAt: Nullable(Instant('When the run ended. `null` if it has not ended.', '2026-11-21T09:30:09Z')),
  seconds: Type.Number({ description: 'The duration so far.', minimum: 0, examples: [4.8] }),
  read: Count('Records read.', 1240),
  new: Count('Records added.', 3),
  changed: Count('Records updated.', 17),
  unchanged: Count('Records that were already up to date.', 1219),
  removed: Count('Records removed.', 0),
  skipped: Count('Records that were neither stored nor rejected. `notes` has the reasons.', 0),
  outdated: Count('Lines of a file that were skipped because they are older than the stored record.', 0),
  rejected: Count('Records rejected. `notes` has the reasons. For a file, see `GET /imports/:id/rejected`.', 1),
  notes: Type.Array(Note, { description: 'Remarks about the run, most frequent first.' }),
  detail: Nullable(
    Text(
      'The cause of the failure. `null` if the run has not failed.',
      'back_office_unavailable: The back office cannot be reached.',
      500,
    ),
  ),
}

/** One run of a sync. */
export type SyncRun = Static<typeof SyncRun>
export const SyncRun = Type.Object(run, { $id: 'SyncRun', additionalProperties: false })

/** A sync with its schedule and state. */
export type Sync = Static<typeof Sync>
export const Sync = Type.Object(
  {
    sync: Text('The name of the sync.', 'stock'),
    origin,
    intervalSeconds: Nullable(Integer('The schedule. `null` if the sync has none.', 300, { minimum: 1 })),
    syncedAt: Nullable(Instant('The end of the last completed run. `null` before the first.', '2026-11-21T09:30:04Z')),
    lastFullSyncAt: Nullable(
      Instant('The end of the last completed full sync. `null` before the first.', '2026-11-21T02:00:31Z'),
    ),
    lagSeconds: Nullable(Integer('The time since the last completed run.', 142, { minimum: 0 })),
    isOverdue: Flag('True if `lagSeconds` is at least three times `intervalSeconds`.', false),
    state: OneOf('The result of the last run. `running`: a run is in progress. `none`: no run yet.', [
      'ok',
      'failed',
      'running',
      'none',
    ]),
    detail: Nullable(
      Text(
        'The cause if the last run failed, otherwise `null`.',
        'back_office_unavailable: The back office cannot be reached.',
        500,
      ),
    ),
    isQueued: Flag('True if a requested run has not ended yet.', false),
    nextRunAt: Nullable(Instant('The next scheduled run. `null` before the first.', '2026-11-21T09:35:01Z')),
    lastRun: Nullable(SyncRun),
  },
  { $id: 'Sync', additionalProperties: false },
)

export const SyncRunInput = Type.Object(
  { full: Type.Optional(Flag('Run a full sync. Default: false.', true)) },
  { $id: 'SyncRunInput', additionalProperties: false },
)

export const ImportRun = Type.Object(
  {
    ...run,
    type: Text('The import type.', 'stores'),
    dryRun: Flag('True for a dry run: no records are written.', false),
  },
  { $id: 'ImportRun', additionalProperties: false },
)

export const RejectedLines = Type.Object(
  {
    column: Text("The file's name of the column. Empty if the reason is about the whole line.", 'storeNumber'),
    reason: Text('Why the lines were rejected. Follows the name of the column.', 'must be an existing store', 500),
    lines: Count('The number of lines.', 12),
    numbers: Type.Array(Type.Integer({ minimum: 1, examples: [7] }), {
      description: 'The numbers of the first 100 lines, counted from 1. The header is a line too.',
    }),
    ranges: Type.Array(Type.Array(Type.Integer({ minimum: 1, examples: [7] }), { minItems: 2, maxItems: 2 }), {
      description: 'All lines, as the first and last number of each range. At most 50,000 ranges per import.',
    }),
  },
  { $id: 'RejectedLines', additionalProperties: false },
)

import { type Static, Type } from '../../schemas/schemas.ts'
import { Count, Flag, Id, Instant, Nullable, Text, Whole, Words } from '../values/fields.ts'

const origin = Words('Whether it is pulled from a back office, or comes as files.', ['backOffice', 'file'])

export const feedName = { description: 'The feed.', example: 'stock' }

/** Something that was not quite as it should be, and how often. */
const Note = Type.Object(
  {
    note: Text('What it was.', 'stock of a store or a SKU that is not known here: left out', 500),
    count: Count('How often.', 3),
  },
  { $id: 'FeedNote', additionalProperties: false },
)

const run = {
  id: Id('The identifier of the run.', '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44'),
  feed: Text('What it brought.', 'stock'),
  origin,
  whole: Flag('Whether it read everything, and not only what changed.', false),
  state: Words('`lost`: its process ended in the middle of it, and the next run repeats it.', [
    'ok',
    'running',
    'failed',
    'lost',
  ]),
  startedAt: Instant('When it began.', '2026-11-21T09:30:04Z'),
  endedAt: Nullable(Instant('When it ended; null: it has not.', '2026-11-21T09:30:09Z')),
  seconds: Type.Number({ description: 'How long it took, or has taken so far.', minimum: 0, examples: [4.8] }),
  read: Count('Records that were read.', 1240),
  new: Count('Those that were not there before.', 3),
  changed: Count('Those that were there and differed.', 17),
  unchanged: Count('Those that were there just so.', 1219),
  removed: Count('Records that were there and are gone.', 0),
  refused: Count('Those that could not be taken; `notes` says why, and of a file `GET /imports/:id/rejected`.', 1),
  notes: Type.Array(Note, { description: 'What was not quite as it should be, the most frequent first.' }),
  detail: Nullable(
    Text('Why it failed; null: it did not.', 'back_office_unavailable: The back office cannot be reached.', 500),
  ),
}

/** One run of a feed. */
export type FeedRun = Static<typeof FeedRun>
export const FeedRun = Type.Object(run, { $id: 'FeedRun', additionalProperties: false })

/** A feed as it stands. */
export type Feed = Static<typeof Feed>
export const Feed = Type.Object(
  {
    feed: Text('What it brings.', 'stock'),
    origin,
    everySeconds: Nullable(Whole('How often it is pulled by itself; null: it is not.', 300, { minimum: 1 })),
    syncedAt: Nullable(Instant('When it last came to its end; null: never yet.', '2026-11-21T09:30:04Z')),
    wholeAt: Nullable(Instant('When everything was last pulled, and not only what changed.', '2026-11-21T02:00:31Z')),
    lagSeconds: Nullable(Whole('How long ago it last came to its end.', 142, { minimum: 0 })),
    isLate: Flag('Whether that is three times as long as its schedule has it, or longer.', false),
    state: Words('How its last run went; `running` while one is under way, `none` before the first.', [
      'ok',
      'failed',
      'running',
      'none',
    ]),
    detail: Nullable(
      Text(
        'Why the last run failed; null: it did not.',
        'back_office_unavailable: The back office cannot be reached.',
        500,
      ),
    ),
    isAsked: Flag('Whether somebody has asked for a run that has not ended yet.', false),
    nextAt: Nullable(Instant('When it is pulled next; null: not by itself.', '2026-11-21T09:35:01Z')),
    lastRun: Nullable(Type.Object(run, { additionalProperties: false })),
  },
  { $id: 'Feed', additionalProperties: false },
)

export const FeedRunInput = Type.Object(
  { whole: Type.Optional(Flag('Read everything, and not only what changed. Default: false.', true)) },
  { $id: 'FeedRunInput', additionalProperties: false },
)

/** A file that is, or was, taken in. */
export const Import = Type.Object(
  { ...run, dryRun: Flag('Whether it was only looked at: nothing was written.', false) },
  { $id: 'Import', additionalProperties: false },
)

export const RefusedLines = Type.Object(
  {
    column: Text('What the file calls the column; empty where it is the line as a whole.', 'storeNumber'),
    reason: Text('Why they were refused, behind the name of the column.', 'names no store', 500),
    lines: Count('How many lines.', 12),
    numbers: Type.Array(Type.Integer({ minimum: 1, examples: [7] }), {
      description: 'The numbers of the first 100 of them, counted from 1; the header is a line too.',
    }),
  },
  { $id: 'RefusedLines', additionalProperties: false },
)

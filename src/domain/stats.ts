import { Type } from '../schemas/schemas.ts'
import { Count, Currency, Flag, Instant, LocalDate, Money, Nullable, Text, Words } from './values/fields.ts'

const Minutes = (description: string, example: number[]) =>
  Type.Array(Type.Integer({ minimum: 0, examples: [example[0]] }), { description, examples: [example] })

const Sum = Type.Object(
  { currency: Currency, count: Count('How many.', 128), total: Money('Their sum.', '10239.95') },
  { $id: 'Sum', additionalProperties: false },
)
const Sums = (description: string) => Type.Array(Sum, { description })

/** Calls of the back office, minute by minute. */
export const CallFigures = Type.Object(
  {
    breaker: Nullable(
      Words(
        'Whether calls go through, in the process that answers: `open` is a breaker that keeps them back for a while, after failures; null: there is no back office to call.',
        ['closed', 'open'],
      ),
    ),
    since: Instant('When the first minute begins; the last one is under way.', '2026-11-21T09:31:00Z'),
    calls: Minutes('Calls in each minute.', [12, 0, 31]),
    failed: Minutes('Those of them without an answer, or with a 5xx.', [1, 0, 0]),
    average: Minutes('Milliseconds until an answer began, on the average.', [84, 0, 91]),
    slowest: Minutes('Milliseconds until the slowest answer began.', [310, 0, 455]),
  },
  { $id: 'CallFigures', additionalProperties: false },
)

/** The service's day in numbers, for charts. */
export const Figures = Type.Object(
  {
    requests: Type.Object(
      {
        since: Instant('When the first minute begins; the last one is under way.', '2026-11-21T09:31:00Z'),
        answered: Minutes('Requests in each minute.', [12, 0, 31]),
        refused: Minutes('Those of them that were answered with a 4xx.', [1, 0, 2]),
        failed: Minutes('Those of them that were answered with a 5xx.', [0, 0, 0]),
      },
      {
        $id: 'RequestFigures',
        additionalProperties: false,
        description:
          'The last 24 hours, minute by minute, as far as requests are logged (setting `requestLogRetentionDays`).',
      },
    ),
    day: LocalDate("Today, on the clock of the service's time zone.", '2026-11-22'),
    orders: Sums('Orders that were placed today, by currency.'),
    sales: Sums('Retail transactions of today, by currency: what was returned is taken off.'),
    vouchers: Nullable(
      Sums(
        'What is owed for vouchers that can still be spent, or were suspended, by currency; null where a head office keeps them.',
      ),
    ),
    syncs: Type.Array(
      Type.Object(
        {
          sync: Text('What it brings.', 'stock'),
          lagSeconds: Nullable(Count('How long ago it last came to its end; null: it never has.', 142)),
          intervalSeconds: Nullable(Count('How often it is pulled by itself; null: it is not.', 300)),
          isOverdue: Flag('Whether the one is three times the other or more.', false),
        },
        { $id: 'SyncLag', additionalProperties: false },
      ),
      { description: 'How old the data is, sync by sync, in the order of `GET /syncs`.' },
    ),
  },
  { $id: 'Figures', additionalProperties: false },
)

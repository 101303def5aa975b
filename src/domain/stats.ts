import { Type } from '../schemas/schemas.ts'
import { Count, Currency, Flag, Instant, LocalDate, Money, Nullable, OneOf, Text } from './values/fields.ts'

const Minutes = (description: string, example: number[]) =>
  Type.Array(Type.Integer({ minimum: 0, examples: [example[0]] }), { description, examples: [example] })

const CurrencySum = Type.Object(
  { currency: Currency, count: Count('The number of records.', 128), total: Money('Their sum.', '10239.95') },
  { $id: 'CurrencySum', additionalProperties: false },
)
const SumsByCurrency = (description: string) => Type.Array(CurrencySum, { description })

const since = Instant('The start of the first minute. The last minute is still in progress.', '2026-11-21T09:31:00Z')

/** Back-office calls per minute. */
export const BackOfficeCallStats = Type.Object(
  {
    breaker: Nullable(
      OneOf(
        'The circuit breaker of the process that responds. `open`: calls are held back for a while after failures. null: there is no back office to call.',
        ['closed', 'open'],
      ),
    ),
    since,
    calls: Minutes('Calls per minute.', [12, 0, 31]),
    failed: Minutes('Calls per minute that got no response, or a 5xx.', [1, 0, 0]),
    average: Minutes('Average milliseconds until the response began.', [84, 0, 91]),
    slowest: Minutes('Milliseconds until the slowest response began.', [310, 0, 455]),
  },
  { $id: 'BackOfficeCallStats', additionalProperties: false },
)

/** The data behind the dashboard. */
export const Stats = Type.Object(
  {
    requests: Type.Object(
      {
        since,
        answered: Minutes('Requests per minute.', [12, 0, 31]),
        rejected: Minutes('Requests per minute with a 4xx response.', [1, 0, 2]),
        failed: Minutes('Requests per minute with a 5xx response.', [0, 0, 0]),
      },
      {
        $id: 'RequestStats',
        additionalProperties: false,
        description:
          'The last 24 hours, per minute, without the console. Only logged requests are counted (setting `requestLogRetentionDays`).',
      },
    ),
    day: LocalDate("The current day in the service's time zone.", '2026-11-22'),
    orders: SumsByCurrency('Orders placed on this day, by currency.'),
    sales: SumsByCurrency('Retail transactions of this day, by currency. Returns are subtracted.'),
    vouchers: Nullable(
      SumsByCurrency(
        'The outstanding voucher balance by currency, including suspended vouchers. null if the back office keeps the vouchers.',
      ),
    ),
    syncs: Type.Array(
      Type.Object(
        {
          sync: Text('The name of the sync.', 'stock'),
          lagSeconds: Nullable(
            Count('The age of the data: seconds since the last completed run. null: none has completed.', 142),
          ),
          intervalSeconds: Nullable(Count('The schedule in seconds. null: the sync has none.', 300)),
          isOverdue: Flag('True if the lag is at least three times the interval.', false),
        },
        { $id: 'SyncLag', additionalProperties: false },
      ),
      { description: 'The lag of each sync, in the order of `GET /syncs`.' },
    ),
  },
  { $id: 'Stats', additionalProperties: false },
)

import { includesRole } from '../domain/accounts.ts'
import { adminLists, BrowsedRows, browsedLists, maxOffset } from '../domain/browse.ts'
import { OneOf } from '../domain/values/fields.ts'
import { ApiError } from '../errors/api-error.ts'
import { Filter, TimestampParameter } from '../http/pagination/lists.ts'
import { get } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { browse as readRows } from '../store/browse/browse.ts'
import { tables } from '../store/browse/tables.ts'

/** Tables of records for people: sorted, filtered and counted. Programs that copy records read the lists instead. */
export const browse = [
  get(
    '/browse',
    {
      operationId: 'readTable',
      tag: 'Stats',
      summary: 'Read a table of records',
      description:
        'Any part of a list, sorted and filtered, as the tables of the console show it. To copy a list, use the list itself, whose pages have no gaps. Vouchers and mappings need the role `admin`.',
      query: Type.Object({
        table: OneOf('The table.', browsedLists),
        q: Filter('Only rows that match: numbers by their beginning, names by words.', 'smith', 100),
        filter: Filter('Only rows with this state, such as `processing` of orders.', 'processing', 20),
        sort: Filter('The column that orders the rows, after `-` if descending.', '-placedAt', 20),
        from: TimestampParameter('Only orders or sales of this time or later.'),
        until: TimestampParameter('Only orders or sales before this time.'),
        limit: Type.Optional(
          Type.Integer({ description: 'The number of rows.', minimum: 1, maximum: 250, default: 100, examples: [100] }),
        ),
        offset: Type.Optional(
          Type.Integer({
            description: 'The number of rows to skip.',
            minimum: 0,
            maximum: maxOffset,
            default: 0,
            examples: [0],
          }),
        ),
      }),
      validate: ({ table, filter, sort, from, until }) => {
        if (table === undefined) return []
        const { filters, sorts, period } = tables[table]
        return [
          ...checkOneOf('filter', filter, Object.keys(filters)),
          ...checkOneOf('sort', sort?.replace(/^-/, ''), Object.keys(sorts)),
          ...(period ? [] : [...rejectPeriod('from', from), ...rejectPeriod('until', until)]),
        ]
      },
      response: BrowsedRows,
      errors: ['insufficient_role'],
    },
    async ({ db, service, role, query: { table, q, filter, sort, from, until, limit = 100, offset = 0 } }) => {
      if (adminLists.includes(table) && !includesRole(role, 'admin'))
        throw new ApiError('insufficient_role', `The table \`${table}\` requires the role \`admin\`.`)
      return { data: await readRows(db, service, table, { text: q?.trim(), filter, sort, from, until, limit, offset }) }
    },
  ),
]

/** Returns the error of a parameter whose value is none of `values`. */
const checkOneOf = (parameter: string, value: string | undefined, values: readonly string[]) =>
  value === undefined || values.includes(value)
    ? []
    : [
        {
          parameter,
          code: 'invalid_parameter' as const,
          detail: `\`${parameter}\` must be one of ${values.join(', ')}.`,
        },
      ]

/** Returns the error of `from` or `until` with a table that has no period. */
const rejectPeriod = (parameter: string, value: string | undefined) =>
  value === undefined
    ? []
    : [
        {
          parameter,
          code: 'invalid_parameter' as const,
          detail: `\`${parameter}\` can be used only with the table \`orders\` or \`sales\`.`,
        },
      ]

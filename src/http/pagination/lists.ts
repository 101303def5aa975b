import { getSchemaName, Nullable } from '../../domain/values/fields.ts'
import type { FieldError } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { type Static, type TSchema, Type } from '../../schemas/schemas.ts'
import { type CursorScope, isBeforeRestore, readCursor, writeCursor } from '../../store/lists/cursor.ts'
import type { Page, PageRequest } from '../../store/lists/page.ts'
import type { ListMetaFields } from '../streaming/export-chunks.ts'

const exampleCursor = 'mM3Zr0ZbXq0c5nYl2V7f1lsiMjAyNi0xMS0yMVQwOTozMToyNy44MDM4NzBaIiwiMjAyNC0wNS0xMCIsIjY1NDMyIl0'

/** A query parameter with a time. Without an offset, the time is in the service's time zone. */
export const TimestampParameter = (description: string) =>
  Type.Optional(Type.String({ description, format: 'timestamp', maxLength: 40, examples: ['2024-05-10T00:00:00Z'] }))

/** Returns an error if `<name>_before` isn't later than `<name>_after`. */
export function findInvertedRange(name: string, after: string | undefined, before: string | undefined): FieldError[] {
  if (after === undefined || before === undefined || after <= before) return []
  const detail = `\`${name}_before\` must be later than \`${name}_after\`.`
  return [{ parameter: `${name}_before`, code: 'date_range_inverted', detail }]
}

export const Filter = (description: string, example: string, maxLength = 250) =>
  Type.Optional(Type.String({ description, minLength: 1, maxLength, examples: [example] }))

/** A filter by email address. */
export const EmailFilter = () =>
  Type.Optional(
    Type.String({
      description: 'The exact email address, ignoring case. Write `+` as `%2B` in a URL.',
      format: 'email',
      maxLength: 250,
      examples: ['john.smith@example.com'],
    }),
  )

/**
 * Removes the example of a parameter that can't be combined with another one. Tools send all examples of an operation in one request.
 */
export const withoutExample = <T extends TSchema>(schema: T): T =>
  Type.Optional({ ...schema, examples: undefined }) as T

export const updatedAfterParameter = TimestampParameter(
  'Only records that changed later than this. Send the `asOf` of the previous list to receive all later changes.',
)

/** The paging parameters of every list. `defaultLimit` is the number of records on a page if the request has no `limit`. */
export const buildPagingParameters = (defaultLimit = 100) => ({
  limit: Type.Optional(
    Type.Integer({
      description: 'The maximum number of records on a page.',
      minimum: 1,
      maximum: 100,
      ...(defaultLimit === 100 ? { default: 100 } : {}),
      examples: [100],
    }),
  ),
  after_cursor: Type.Optional(
    Type.String({
      description: 'The `endCursor` of the previous page. All other parameters except `limit` must be the same.',
      format: 'cursor',
      maxLength: 2_000,
    }),
  ),
})

export const Warning = Type.Object(
  {
    code: Type.String({ examples: ['capability_unavailable'] }),
    detail: Type.String({
      examples: [
        'GET /customers?updated_after= needs back-office version 2022.1 or later. Version 2021.3 is installed.',
      ],
    }),
  },
  { $id: 'Warning', additionalProperties: false },
)
export type Warning = Static<typeof Warning>

export const ListMeta = Type.Object(
  {
    hasNextPage: Type.Boolean({ description: 'True if there are more records.', examples: [true] }),
    endCursor: Nullable(
      Type.String({
        description: 'The `after_cursor` of the next page. Null for an empty list.',
        examples: [exampleCursor],
      }),
    ),
    asOf: Type.String({
      description:
        'The instant up to which the list contains all changes, at most `updated_before`. To poll for later changes, send it as `updated_after`.',
      format: 'date-time',
      examples: ['2026-11-21T09:31:27.803870Z'],
    }),
    timeZone: Type.String({
      description: 'The time zone of the local times in the records.',
      examples: ['Australia/Melbourne'],
    }),
    syncedAt: Type.Optional(
      Type.String({
        description:
          'When the list was last synced with the back office, a few seconds late. Absent if the list needs no sync or has never been synced.',
        format: 'date-time',
        examples: ['2026-11-21T09:30:04Z'],
      }),
    ),
    warnings: Type.Optional(Type.Array(Type.Ref('Warning'))),
  },
  { $id: 'ListMeta', additionalProperties: false },
)

/** The response of a list. For `Customer` its name is `CustomerPage`. */
export const PageResponse = (item: TSchema) =>
  Type.Object(
    { data: Type.Array(item), meta: Type.Ref('ListMeta') },
    { $id: `${getSchemaName(item)}Page`, additionalProperties: false },
  )

/** The result of a list handler. */
export interface PageResult {
  page: Page
  warnings?: Warning[]
  /** When the list was last synced, if that differs from the sync of the route definition. */
  syncedAt?: string | undefined
  /** The instant up to which the list is complete, if a filter ends it earlier. */
  asOf?: string
}

/** Returns the limit and the start of the requested page. Throws `errors`, and an error if the cursor doesn't belong to this list. */
export function toPageRequest(
  scope: CursorScope,
  { limit, after_cursor }: { limit: number | undefined; after_cursor: string | undefined },
  defaultLimit: number,
  errors: FieldError[],
): PageRequest {
  const start = after_cursor === undefined ? undefined : readCursor(scope, after_cursor)
  if (after_cursor !== undefined && !start)
    errors.push({
      parameter: 'after_cursor',
      code: 'invalid_cursor',
      detail: '`after_cursor` must be an `endCursor` of this list with the same filters.',
    })
  if (start && after_cursor !== undefined && isBeforeRestore(scope.service, after_cursor))
    errors.push({
      parameter: 'after_cursor',
      code: 'invalid_cursor',
      detail:
        '`after_cursor` was created before a restore or a time correction of the service. Start the list again without it.',
    })
  throwIfAny(errors)
  return { limit: limit ?? (start ? 100 : defaultLimit), ...start }
}

/**
 * Returns the response of a list as JSON: the stored records and `meta`. After the last record, the cursor stays the same.
 */
export function renderPage(
  scope: CursorScope,
  { after }: PageRequest,
  page: Page,
  { asOf, ...freshness }: ListMetaFields,
): string {
  const end = page.end ?? after
  const meta = {
    hasNextPage: page.hasNextPage,
    endCursor: end ? writeCursor(scope, { asOf: page.asOf, position: page.position, after: end }) : null,
    asOf,
    timeZone: scope.service.settings.timeZone,
    ...freshness,
  }
  return `{"data":[${page.records.join(',')}],"meta":${JSON.stringify(meta)}}`
}

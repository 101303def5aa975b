import { Nullable, shapeName } from '../../domain/values/fields.ts'
import type { FieldError } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { type Static, type TSchema, Type } from '../../schemas/schemas.ts'
import { type CursorScope, isBeforeRestore, readCursor, writeCursor } from '../../store/lists/cursor.ts'
import type { Page, PageRequest } from '../../store/lists/page.ts'
import type { Beside } from '../streaming/export-chunks.ts'

const exampleCursor = 'mM3Zr0ZbXq0c5nYl2V7f1lsiMjAyNi0xMS0yMVQwOTozMToyNy44MDM4NzBaIiwiMjAyNC0wNS0xMCIsIjY1NDMyIl0'

/** A time in a query: read in the service's time zone unless it brings its own. */
export const Moment = (description: string) =>
  Type.Optional(Type.String({ description, format: 'moment', maxLength: 40, examples: ['2024-05-10T00:00:00Z'] }))

/** The fault of a range of times, `<what>_after` and `<what>_before`, whose ends are the wrong way round. */
export function inverted(what: string, after: string | undefined, before: string | undefined): FieldError[] {
  if (after === undefined || before === undefined || after <= before) return []
  const detail = `\`${what}_before\` must be later than \`${what}_after\`.`
  return [{ parameter: `${what}_before`, code: 'date_range_inverted', detail }]
}

export const Filter = (description: string, example: string, maxLength = 250) =>
  Type.Optional(Type.String({ description, minLength: 1, maxLength, examples: [example] }))

/** A parameter that excludes another shows no example: those of an operation can be sent together. */
export const excluding = <T extends TSchema>(shape: T): T => Type.Optional({ ...shape, examples: undefined }) as T

export const updatedAfter = Moment(
  'Only what has changed later than this. The `asOf` of the last walk, and no change is missed.',
)

/** The parameters that every list knows. `withoutLimit` is how many records come without one. */
export const paging = (withoutLimit = 100) => ({
  limit: Type.Optional(
    Type.Integer({
      description: 'Records in a page.',
      minimum: 1,
      maximum: 100,
      ...(withoutLimit === 100 ? { default: 100 } : {}),
      examples: [100],
    }),
  ),
  after_cursor: Type.Optional(
    Type.String({
      description: 'The `endCursor` of the page before; the other parameters stay as they were, but for `limit`.',
      format: 'cursor',
      maxLength: 2_000,
      examples: [exampleCursor],
    }),
  ),
})

export const Warning = Type.Object(
  {
    code: Type.String({ examples: ['capability_unavailable'] }),
    detail: Type.String({
      examples: ['GET /customers?updated_after= needs back-office version 2022.1 or later; this one is 2021.3.'],
    }),
  },
  { $id: 'Warning', additionalProperties: false },
)
export type Warning = Static<typeof Warning>

export const ListMeta = Type.Object(
  {
    hasNextPage: Type.Boolean({ description: 'Whether more records follow.', examples: [true] }),
    endCursor: Nullable(
      Type.String({
        description: 'Where this page ends: the `after_cursor` of the next; null for an empty list.',
        examples: [exampleCursor],
      }),
    ),
    asOf: Type.String({
      description:
        'The moment up to which this walk shows changes, with `updated_before` no later than that: the next poll is `updated_after=<asOf>`.',
      format: 'date-time',
      examples: ['2026-11-21T09:31:27.803870Z'],
    }),
    timeZone: Type.String({
      description: 'The zone of the wall-clock times in the records.',
      examples: ['Australia/Melbourne'],
    }),
    syncedAt: Type.Optional(
      Type.String({
        description:
          'When the list was last brought up to date with a back office that is pulled from, a few seconds late. Absent where it is always up to date, and where it never was.',
        format: 'date-time',
        examples: ['2026-11-21T09:30:04Z'],
      }),
    ),
    warnings: Type.Optional(Type.Array(Type.Ref('Warning'))),
  },
  { $id: 'ListMeta', additionalProperties: false },
)

/** A list's answer: of `Customer` it is `CustomerPage`. */
export const PageOf = (item: TSchema) =>
  Type.Object(
    { data: Type.Array(item), meta: Type.Ref('ListMeta') },
    { $id: `${shapeName(item)}Page`, additionalProperties: false },
  )

/** What a page's function answers. */
export interface PageAnswer {
  page: Page
  warnings?: Warning[]
  /** When it was last brought up to date, where that is not said by the sync. */
  syncedAt?: string | undefined
  /** The moment up to which it is complete, where a filter ends it before the walk's own. */
  asOf?: string
}

/** The page that a request asks for. A cursor that is not this walk's is one more fault of the request. */
export function pageRequestOf(
  walk: CursorScope,
  { limit, after_cursor }: { limit: number | undefined; after_cursor: string | undefined },
  withoutLimit: number,
  faults: FieldError[],
): PageRequest {
  const place = after_cursor === undefined ? undefined : readCursor(walk, after_cursor)
  if (after_cursor !== undefined && !place)
    faults.push({
      parameter: 'after_cursor',
      code: 'invalid_cursor',
      detail: '`after_cursor` must be an `endCursor` of this list with the same filters.',
    })
  if (place && after_cursor !== undefined && isBeforeRestore(walk.service, after_cursor))
    faults.push({
      parameter: 'after_cursor',
      code: 'invalid_cursor',
      detail: '`after_cursor` is from before the service was restored from a backup. Start the list again without it.',
    })
  throwIfAny(faults)
  return { limit: limit ?? (place ? 100 : withoutLimit), ...place }
}

/** A page's answer: the records as they are stored, and the meta around them. Behind the last record a walk stays where it is. */
export function envelope(walk: CursorScope, { after }: PageRequest, page: Page, { asOf, ...others }: Beside): string {
  const end = page.end ?? after
  const meta = {
    hasNextPage: page.hasNextPage,
    endCursor: end ? writeCursor(walk, { asOf: page.asOf, position: page.position, after: end }) : null,
    asOf,
    timeZone: walk.service.settings.timeZone,
    ...others,
  }
  return `{"data":[${page.records.join(',')}],"meta":${JSON.stringify(meta)}}`
}

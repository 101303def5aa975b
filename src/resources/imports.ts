import { randomUUID } from 'node:crypto'
import { includesRole, type Role } from '../domain/accounts.ts'
import { Import, RefusedLines } from '../domain/sync/syncs.ts'
import { ApiError, type FieldError, notFound, toApiError } from '../errors/api-error.ts'
import { throwIfAny } from '../errors/throw-if-any.ts'
import { requireRole } from '../http/admission/admit.ts'
import { get, upload } from '../http/routing/route-definitions.ts'
import { isEncoding } from '../import/formats/encoding.ts'
import { dialectOf, joined, type Profile, profileIn } from '../import/formats/profile.ts'
import { importFile } from '../import/import-file.ts'
import { ImportError, OptionError } from '../import/pipeline/import-error.ts'
import type { Kind } from '../import/pipeline/import-type.ts'
import { kindNamed, kinds } from '../import/pipeline/import-types.ts'
import { decimalMarks } from '../import/pipeline/numbers.ts'
import { Type } from '../schemas/schemas.ts'
import { leaveAuditLine } from '../store/audit/audit.ts'
import { beginFileRun, importRecord, refusedRecord } from '../store/sync/file-runs.ts'

const [tag, kind] = ['Imports', 'import'] as const
const Option = (description: string, example: string, maxLength: number) =>
  Type.Optional(Type.String({ description, maxLength, examples: [example] }))
const params = { id: { description: 'The import.', example: '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44' } }

/** Files of rows that are taken in, and what became of their lines. */
export const imports = [
  upload(
    '/imports/:id',
    {
      operationId: 'importFile',
      tag,
      summary: 'Import a file',
      description:
        'As `tillbridge import` does (docs/reference/import-formats.md): lines with a fault are refused, the others go in, and the same file again changes nothing. CSV or NDJSON by its `Content-Type`, plain or packed with gzip or zstd, 256 MiB at most, within 30 seconds. It is read once it is here: `Location` tells what becomes of it. What is wrong with a file is told with the options of the command: `--delimiter` and those that have a parameter are that parameter here, `--map`, `--ignore`, `--set` and `--time` stand in `profile`. With `Prefer: tx=rollback` it is only looked at. `store-mapping`, `sku-mapping`, what the e-commerce platform has and payment gateways are for `admin`, and so are the columns of other files that map or configure: `ecommerceLocationId` and `inventoryBuffer` of stores, `sku` and `ecommerceProductId` of products, `buffer` of stock.',
      params: { id: { description: `What its lines are: ${Object.keys(kinds).join(', ')}.`, example: 'stores' } },
      query: Type.Object({
        profile: Type.Optional(
          Type.String({
            description: 'How the file is written: JSON, such as a file of `--save-profile` holds.',
            format: 'multiline',
            maxLength: 4_000,
            examples: ['{"map":{"sku":"StockCode"}}'],
          }),
        ),
        delimiter: Option('What separates the cells of CSV: one character, or `tab`.', ';', 3),
        decimal: Type.Optional(
          Type.Enum([...decimalMarks], { description: 'What stands before the decimals.', examples: [','] }),
        ),
        date_format: Option('How days and times are written.', 'DD.MM.YYYY', 50),
        encoding: Option(
          'A label of the Encoding Standard; absent, the `charset` of the `Content-Type`.',
          'windows-1252',
          50,
        ),
        stop_after: Type.Optional(
          Type.Integer({
            description: 'Ends it early once so many lines are refused.',
            minimum: 1,
            maximum: 999_999_999,
            examples: [100],
          }),
        ),
      }),
      answer: Import,
      errors: ['capability_unavailable'],
    },
    async ({
      db,
      service,
      role,
      driver,
      keys,
      params,
      query,
      format,
      charset,
      username,
      requestId,
      isTrial,
      ending,
      file,
    }) => {
      const kindOf = kindNamed(params.id)
      if (!kindOf) throw notFound('kind of rows')
      requireRoleOf(kindOf, role)
      if (kindOf.movesIn && !driver.isOurs)
        throw new ApiError(
          'capability_unavailable',
          `${params.id} can't be imported, because the back office keeps them.`,
        )
      if (charset !== undefined && !isEncoding(charset))
        throw new ApiError('unsupported_media_type', 'The charset must be a label of the Encoding Standard.')
      const dialect = await dialectIn(params.id, query, charset)
      const stream = await file()
      const run = { kind: params.id, id: randomUUID() }
      const subject = `/imports/${run.id}`
      const audited = { username, requestId, operation: 'POST /imports/:id', subject, body: {} }
      await db.transaction(async tx => {
        await beginFileRun(tx, service, run, isTrial)
        if (!isTrial) await leaveAuditLine(tx, service, audited)
      })
      // Before the work begins, which nobody would hear the end of if this failed.
      const begun = await importRecord(db, service, run.id)
      const withheld = includesRole(role, 'admin') ? [] : (kindOf.ofAdmins ?? [])
      const options = { keys, run: run.id, dryRun: isTrial, stopAfter: query.stop_after, signal: ending, withheld }
      const source = { name: 'The file', format, stream }
      const work = importFile(db, service, run.kind, source, Object.assign(options, dialect)).catch(error => {
        // Its run says so.
        if (!(error instanceof ImportError) || error.cause) throw error
      })
      return { record: begun?.record ?? '{}', subject, work }
    },
  ),

  get(
    '/imports/:id',
    {
      operationId: 'getImport',
      tag,
      summary: 'Get an import',
      description:
        'For 30 days, those of `tillbridge import` too: they are the runs of `GET /feeds/:feed/runs` whose origin is `file`.',
      params,
      answer: Import,
      kind,
    },
    ({ db, service, role, params: { id } }) => toldTo(role, importRecord(db, service, id)),
  ),

  get(
    '/imports/:id/rejected',
    {
      operationId: 'listRefusedLines',
      tag,
      summary: 'List rejected lines',
      description:
        'Once the file is in: up to 1,000 reasons, each with the numbers of its first lines. What stands in the lines is not kept; mend them in the file and import it again.',
      params,
      answer: Type.Array(RefusedLines),
      kind,
    },
    ({ db, service, role, params: { id } }) => toldTo(role, refusedRecord(db, service, id)),
  ),
]

/** A file is for who may change what is in it one by one. */
const requireRoleOf = (kind: Kind | undefined, role: Role) => kind?.role && requireRole({ role }, kind.role)

async function toldTo(role: Role, finding: Promise<{ feed: string; record: string } | undefined>) {
  const found = await finding
  requireRoleOf(kindNamed(found?.feed ?? ''), role)
  return found && { record: found.record }
}

interface Options extends Pick<Profile, 'delimiter' | 'decimal' | 'encoding'> {
  profile?: string
  date_format?: string
}

/** What a query says of a file; throws what is wrong with it. */
async function dialectIn(
  kind: string,
  { profile, delimiter, decimal, encoding, date_format: dateFormat }: Options,
  charset: string | undefined,
) {
  const said = Object.entries({ delimiter, decimal, encoding, dateFormat }).filter(([, value]) => value !== undefined)
  const faults: FieldError[] = []
  // Each by itself, so that all that is wrong is told at once.
  for (const [name, value] of said)
    try {
      dialectOf({ [name]: value })
    } catch (error) {
      faults.push(faultOf(error))
    }
  let kept: Profile = {}
  try {
    if (profile !== undefined) kept = await profileIn(profile, kind, 'It')
  } catch (error) {
    faults.push(faultOf(error))
  }
  throwIfAny(faults)
  const unsaid: Profile = charset === undefined ? {} : { encoding: charset }
  try {
    return dialectOf(joined(joined(unsaid, kept), Object.fromEntries(said)))
  } catch (error) {
    throw toApiError([faultOf(error)])
  }
}

/** What is wrong with a parameter, by the error that says so of an option of the command line; any other is thrown. */
function faultOf(error: unknown): FieldError {
  if (!(error instanceof ImportError)) throw error
  const { option, detail } = error instanceof OptionError ? error : { option: 'profile', detail: error.message }
  return { parameter: option.replace('-', '_'), code: 'invalid_parameter', detail }
}

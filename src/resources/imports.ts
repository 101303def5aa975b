import { randomUUID } from 'node:crypto'
import { includesRole, type Role } from '../domain/accounts.ts'
import { isPlatformSync } from '../domain/ecommerce/connection-settings.ts'
import { ImportRun, RejectedLines } from '../domain/sync/syncs.ts'
import { ApiError, type FieldError, notFound, toApiError } from '../errors/api-error.ts'
import { throwIfAny } from '../errors/throw-if-any.ts'
import { requireRole } from '../http/admission/admit.ts'
import { EmptyBody } from '../http/body/body.ts'
import { get, post, upload } from '../http/routing/route-definitions.ts'
import type { UploadContext } from '../http/routing/uploads.ts'
import { isEncoding } from '../import/formats/encoding.ts'
import { platformProfiles } from '../import/formats/platform-profiles.ts'
import { mergeProfiles, type Profile, parseProfile, toDialect } from '../import/formats/profile.ts'
import { importFile } from '../import/import-file.ts'
import { openSheetInThread } from '../import/parsing/parse-thread.ts'
import { ImportError, OptionError } from '../import/pipeline/import-error.ts'
import type { ImportType } from '../import/pipeline/import-type.ts'
import { findImportType, type ImportTypeName, importTypes } from '../import/pipeline/import-types.ts'
import { decimalMarks } from '../import/pipeline/numbers.ts'
import { type Static, Type } from '../schemas/schemas.ts'
import { addAuditEntry } from '../store/audit/audit.ts'
import { hasConnection } from '../store/ecommerce/connections.ts'
import { beginFileRun, cancelFileRun, findImportRecord, findRejectionsRecord } from '../store/sync/file-runs.ts'

/** Milliseconds after which an upload's import is stopped, so that its slot is free again. */
const maxImportMs = 2 * 60 * 60 * 1_000

const maxFileNameLength = 250

const [tag, kind] = ['Imports', 'import'] as const
const Option = (description: string, example: string, rules: { maxLength?: number; pattern?: string }) =>
  Type.Optional(Type.String(Object.assign({ description, minLength: 1, examples: [example] }, rules)))
/** A printable ASCII character that is not a letter, a digit, an underscore or a quotation mark, or `tab`. */
const delimiterPattern = '^([ !#-/:-@[-^`{-~]|tab)$'
const params = { id: { description: 'The import.', example: '5b0c3f52-8c1d-4a0e-9d0f-2b7d3c1a8e44' } }

const ImportQuery = Type.Object({
  type: Type.Enum(Object.keys(importTypes) as ImportTypeName[], {
    description: 'The import type.',
    examples: ['stores'],
  }),
  profile: Type.Optional(
    Type.String({
      description: `An import profile in JSON, as \`tillbridge import --save-profile\` writes it, or the name of a platform profile: ${Object.keys(
        platformProfiles,
      )
        .map(name => `\`${name}\``)
        .join(', ')}.`,
      format: 'multiline',
      minLength: 1,
      maxLength: 4_000,
      examples: ['{"map":{"sku":"StockCode"}}'],
    }),
  ),
  delimiter: Option('The column separator of CSV: one character, or `tab`.', ';', { pattern: delimiterPattern }),
  decimal: Type.Optional(Type.Enum([...decimalMarks], { description: 'The decimal separator.', examples: [','] })),
  date_format: Option('The format of dates and times.', 'DD.MM.YYYY', { maxLength: 50 }),
  encoding: Option('A label of the Encoding Standard. Default: the `charset` of the `Content-Type`.', 'windows-1252', {
    maxLength: 50,
  }),
  force_older: Type.Optional(
    Type.Boolean({
      description: 'Imports lines that are older than the stored record. Otherwise, they are skipped (`outdated`).',
      examples: [true],
    }),
  ),
  complete: Type.Optional(
    Type.Boolean({
      description:
        'The file is complete. Types: `stock`, `products`, `customers`. Stock that the file lacks becomes 0 in the stores that it names. Missing SKUs and customers are removed. If a line is rejected, or more than half of the list is missing, nothing is removed, and `notes` has the reason.',
      examples: [true],
    }),
  ),
  remove_most: Type.Optional(
    Type.Boolean({
      description: 'With `complete`: removes what the file lacks even if it is more than half of the list.',
      examples: [true],
    }),
  ),
  clear_shared_email: Type.Optional(
    Type.Boolean({
      description: 'Stores the second customer with an email address without it. Otherwise, the line is rejected.',
      examples: [true],
    }),
  ),
  stop_after: Type.Optional(
    Type.Integer({
      description: 'Stops the import after this many rejected lines.',
      minimum: 1,
      maximum: 999_999_999,
      examples: [100],
    }),
  ),
})

/** Imports of CSV and NDJSON files, and the reasons for rejected lines. */
export const imports = [
  upload(
    '/imports',
    {
      operationId: 'importFile',
      tag,
      summary: 'Import a file',
      description:
        'The file is the body: CSV or NDJSON, as its `Content-Type` says. It can be compressed with gzip or zstd. It can have at most 256 MiB, 2 GiB after decompression, and must arrive within 30 seconds. New records are added and changed records are updated. Invalid lines are rejected, and the other lines are imported. Importing the same file again changes nothing. The response comes before the import has finished: `Location` is the import. Errors in the file name the options of `tillbridge import` (docs/reference/import-formats.md). The parameters of this operation have the same names, and `--map`, `--ignore`, `--set` and `--time` are part of `profile`. With `Prefer: tx=rollback`, the file is validated and no records are written. These types require `admin`: `payment-gateways`, `store-mapping`, `sku-mapping` and the `ecommerce-` types. So do some columns of other types: `ecommerceLocationId` and `inventoryBuffer` of stores, `sku` and `ecommerceProductId` of products, and `buffer` of stock.',
      query: ImportQuery,
      response: ImportRun,
      errors: ['capability_unavailable'],
    },
    async context => {
      const { db, service, role, keys, query, format, charset, username, apiKey, requestId, isDryRun } = context
      const typeName = query.type
      const type = findImportType(typeName)
      await requireImportable(context, type)
      const dialect = await readDialect(typeName, query, charset)
      const handle = await context.file()
      const run = { importType: typeName, id: randomUUID() }
      const subject = `/imports/${run.id}`
      const auditEntry = { username, requestId, apiKey: apiKey?.name, operation: 'POST /imports', subject, body: {} }
      await db.transaction(async tx => {
        await beginFileRun(tx, service, run, isDryRun, {
          username,
          fileName: readFileName(context.header('content-disposition')),
        })
        if (!isDryRun) await addAuditEntry(tx, service, auditEntry)
      })
      // Read before the work begins: if this failed later, the client would not learn of the import.
      const created = await findImportRecord(db, service, run.id)
      const forbiddenColumns = includesRole(role, 'admin') ? [] : (type?.adminColumns ?? [])
      const source = { name: 'The file', format } as const
      const options = {
        keys,
        run: run.id,
        dryRun: isDryRun,
        stopAfter: query.stop_after,
        forceOlder: query.force_older,
        complete: query.complete,
        removeMost: query.remove_most,
        clearSharedEmail: query.clear_shared_email,
        actor: { username, requestId },
        signal: AbortSignal.any([context.shutdownSignal, AbortSignal.timeout(maxImportMs)]),
        open: (reading: Parameters<typeof openSheetInThread>[1]) =>
          openSheetInThread({ handle, name: source.name, format, typeName }, reading),
        forbiddenColumns,
      }
      const work = importFile(db, service, typeName, source, Object.assign(options, dialect)).catch(error => {
        // The run has the cause.
        if (!(error instanceof ImportError) || error.cause) throw error
      })
      return { record: created?.record ?? '{}', subject, work }
    },
  ),

  get(
    '/imports/:id',
    {
      operationId: 'getImport',
      tag,
      summary: 'Get an import',
      description:
        'Available for 30 days, also for imports of `tillbridge import`. `GET /syncs/:sync/runs` lists them with the origin `file`.',
      params,
      response: ImportRun,
      recordName: kind,
    },
    ({ db, service, role, params: { id } }) => requireVisible(role, findImportRecord(db, service, id)),
  ),

  post(
    '/imports/:id/cancel',
    {
      operationId: 'cancelImport',
      tag,
      role: 'maintainer',
      status: 200,
      summary: 'Cancel an import',
      description:
        'The import stops within a few seconds, after the batch in progress. Imported lines stay. The run then has the state `failed` and names the last line in `detail`. An import that has ended stays as it is.',
      params,
      body: EmptyBody,
      response: ImportRun,
    },
    ({ service, role, params: { id } }) =>
      async tx => {
        const run = await findImportRecord(tx, service, id)
        if (!run) throw notFound(kind)
        if (role) requireRoleFor(findImportType(run.importType), role)
        await cancelFileRun(tx, service, id)
        return { record: run.record, subject: `/imports/${encodeURIComponent(id)}` }
      },
  ),

  get(
    '/imports/:id/rejected',
    {
      operationId: 'listRejectedLines',
      tag,
      summary: 'List rejected lines',
      description:
        'Available when the import has ended: at most 1,000 reasons, most frequent first, each with the numbers of its lines. Tillbridge does not store the content of rejected lines. Correct them in the file and import it again.',
      params,
      response: Type.Array(RejectedLines),
      recordName: kind,
    },
    ({ db, service, role, params: { id } }) => requireVisible(role, findRejectionsRecord(db, service, id)),
  ),
]

type ImportContext = UploadContext<Static<typeof ImportQuery>, Record<never, never>>

/**
 * Throws if the role can't import the type, if a back office or an e-commerce connection supplies its records, or if the parameters don't fit
 * the type.
 */
async function requireImportable(
  {
    db,
    service,
    role,
    driver,
    query,
    charset,
  }: Pick<ImportContext, 'db' | 'service' | 'role' | 'driver' | 'query' | 'charset'>,
  type: ImportType | undefined,
) {
  const typeName = query.type
  requireRoleFor(type, role)
  if (type?.isOnboarding && !driver.isEmbedded)
    throw new ApiError('capability_unavailable', `The back office keeps the ${typeName}, so they can't be imported.`)
  if (isPlatformSync(typeName) && (await hasConnection(db, service)))
    throw new ApiError(
      'capability_unavailable',
      `${typeName} can't be imported from a file, because the e-commerce connection syncs them.`,
    )
  if (charset !== undefined && !isEncoding(charset))
    throw new ApiError('unsupported_media_type', 'The charset must be a label of the Encoding Standard.')
  if (query.complete && !type?.complete)
    throw toApiError([
      {
        parameter: 'complete',
        code: 'invalid_parameter',
        detail: `\`complete\` can't be used with ${typeName}. Use it with stock, products or customers.`,
      },
    ])
  if (query.remove_most && !query.complete)
    throw toApiError([
      { parameter: 'remove_most', code: 'invalid_parameter', detail: '`remove_most` requires `complete=true`.' },
    ])
}

/** Returns the name in a `Content-Disposition` such as `attachment; filename*=UTF-8''monday.csv`. Undefined if it has none. */
function readFileName(disposition: string | undefined) {
  const [, encoded = ''] = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '') ?? []
  try {
    const name = decodeURIComponent(encoded).replaceAll(/\p{C}/gu, '')
    return name.slice(0, maxFileNameLength).toWellFormed() || undefined
  } catch {
    return undefined
  }
}

const requireRoleFor = (type: ImportType | undefined, role: Role) => type?.role && requireRole({ role }, type.role)

/** Returns the record if the role can import its type. Throws `insufficient_role` otherwise. */
async function requireVisible(role: Role, query: Promise<{ importType: string; record: string } | undefined>) {
  const row = await query
  requireRoleFor(findImportType(row?.importType ?? ''), role)
  return row && { record: row.record }
}

interface Options extends Pick<Profile, 'delimiter' | 'decimal' | 'encoding'> {
  profile?: string
  date_format?: string
}

/** Reads the format options of a query. Throws all their errors at once. */
async function readDialect(
  typeName: string,
  { profile, delimiter, decimal, encoding, date_format: dateFormat }: Options,
  charset: string | undefined,
) {
  const options = Object.entries({ delimiter, decimal, encoding, dateFormat }).filter(
    ([, value]) => value !== undefined,
  )
  const errors: FieldError[] = []
  // One by one, so that all errors are collected.
  for (const [name, value] of options)
    try {
      toDialect({ [name]: value })
    } catch (error) {
      errors.push(parameterError(error))
    }
  let saved: Profile = {}
  try {
    if (profile !== undefined) saved = await parseProfile(profile, typeName, 'It')
  } catch (error) {
    errors.push(parameterError(error))
  }
  throwIfAny(errors)
  const defaults: Profile = charset === undefined ? {} : { encoding: charset }
  try {
    return toDialect(mergeProfiles(mergeProfiles(defaults, saved), Object.fromEntries(options)))
  } catch (error) {
    throw toApiError([parameterError(error)])
  }
}

/** Converts an error about a command line option to an error about the parameter. Throws any other error. */
function parameterError(error: unknown): FieldError {
  if (!(error instanceof ImportError)) throw error
  const { option, detail } = error instanceof OptionError ? error : { option: 'profile', detail: error.message }
  return { parameter: option.replace('-', '_'), code: 'invalid_parameter', detail }
}

import { toApiError } from '../../errors/api-error.ts'
import { get, post } from '../../http/routing/route-definitions.ts'
import { parseProfile } from '../../import/formats/profile.ts'
import { ImportError } from '../../import/pipeline/import-error.ts'
import { type ImportTypeName, importTypes } from '../../import/pipeline/import-types.ts'
import { Type } from '../../schemas/schemas.ts'
import { renderFileRuns } from '../../store/sync/file-runs.ts'
import { renderImportProfiles, saveImportProfile } from '../../store/sync/imports.ts'
import { consoleRoute } from './console-data.ts'

const tag = 'Imports'
const role = 'maintainer'

const ProfileInput = Type.Object(
  {
    header: Type.String({ description: 'SHA-256 of the column names, in hexadecimal.', pattern: '^[0-9a-f]{64}$' }),
    type: Type.Enum(Object.keys(importTypes) as ImportTypeName[], { description: 'The import type.' }),
    profile: Type.String({ description: 'An import profile in JSON.', pattern: '^\\{', maxLength: 4_000 }),
  },
  { $id: 'ImportProfileInput', additionalProperties: false },
)

/** The history of imports, and the profiles that the console offers for files with the same columns. */
export const consoleImports = [
  get(
    '/console/imports',
    { ...consoleRoute, operationId: 'readImportHistory', tag, role, summary: 'Read the history of imports' },
    async ({ db, service }) => ({ record: (await renderFileRuns(db, service))?.record ?? '[]' }),
  ),

  get(
    '/console/import-profiles',
    { ...consoleRoute, operationId: 'readImportProfiles', tag, role, summary: 'Read the import profiles' },
    async ({ db, service }) => ({ record: (await renderImportProfiles(db, service))?.record ?? '[]' }),
  ),

  post(
    '/console/import-profiles',
    {
      ...consoleRoute,
      operationId: 'saveImportProfile',
      tag,
      role,
      status: 200,
      summary: 'Save an import profile',
      body: ProfileInput,
    },
    async ({ service, body: { header, type, profile }, username }) => {
      await parseProfile(profile, type, 'It').catch((error: unknown): never => {
        if (!(error instanceof ImportError)) throw error
        throw toApiError([{ pointer: '/profile', code: 'invalid_field', detail: error.message }])
      })
      return async tx => {
        await saveImportProfile(tx, service, { header, importType: type, profile, username })
        return { data: { header }, subject: '/console/import-profiles' }
      }
    },
  ),
]

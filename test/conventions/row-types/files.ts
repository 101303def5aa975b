import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { noCounts } from '../../../src/import/pipeline/counts.ts'
import { beginFileRun, endFileRun, updateFileRun } from '../../../src/store/sync/file-runs.ts'
import { findInterruptedImport, recordImportProgress } from '../../../src/store/sync/imports.ts'
import type { TestService } from '../../support/service.ts'
import { askDataDatabases } from './databases.ts'
import { askMappingDoctor } from './mappings.ts'
import { askMoving } from './moving.ts'

/** Imports a file, interrupts another, and imports the platform's items. */
export async function tookAFile(api: TestService) {
  const { db, service } = api
  const run = { importType: 'stores', id: 'toured' }
  await beginFileRun(db, service, run, false)
  await updateFileRun(db, service, run, noCounts())
  await endFileRun(db, service, run, { error: undefined, rejections: [] })
  for (const path of ['/imports/toured', '/imports/toured/rejected']) assert.equal((await api.get(path)).status, 200)

  const file = { importType: 'staff', digest: createHash('sha256').digest() }
  await recordImportProgress(db, service, file, 12)
  assert.equal((await findInterruptedImport(db, service, file))?.line, 12)

  await askMappingDoctor(api)
  await askDataDatabases(api)
  await askMoving(api)
}

import {
  type ExportFile,
  type FolderScan,
  isSameVersion,
  scanFolder,
} from '../backoffice/apparel21/export-files/files.ts'
import { type ExportResult, importExport } from '../backoffice/apparel21/export-files/import.ts'
import { maxBytes, tooLarge } from '../backoffice/apparel21/export-files/lines.ts'
import type { BackOffices } from '../backoffice/back-offices.ts'
import { DatabaseUnavailable } from '../database/errors.ts'
import { createCounts } from '../import/pipeline/counts.ts'
import { type ExportFolder, ExportsUnreadable } from '../import/sources/export-source.ts'
import { openExports } from '../import/sources/open-source.ts'
import { raiseAlert, resolveAlert } from '../store/alerts/alerts.ts'
import { forService, type Job, type ServiceJobRun } from './job.ts'

const pollIntervalSeconds = 60
/** The delay while a file is still being written. */
const recheckDelaySeconds = 5
const failuresBeforeAlert = 5

const unreadable = 'export_folder_unreadable'
const rejected = 'export_file_rejected'

/** The last scan of a service's export folder. It is ignored if the folder has another address now. */
interface LastScan {
  address: string
  scan: FolderScan
}

/** Imports each file in a service's export folder once, and moves it to `done/`, or to `failed/` with its rejected lines. */
export const importExports = (offices: BackOffices): Job => {
  const lastScans = new Map<number, LastScan>()
  return {
    run: forService(work => run(offices, lastScans, work)),
    // One unreachable server must not block the other services.
    concurrency: 2,
    retryDelaysSeconds: [15, 60, 300, 900],
  }
}

async function run(offices: BackOffices, lastScans: Map<number, LastScan>, work: ServiceJobRun): Promise<void> {
  const { db, service, attempt, signal, reschedule } = work
  const settings = offices.getSettings(service)
  const { exportFolder: address } = settings
  if (address === undefined) return
  const lastScan = lastScans.get(service.id)
  try {
    const folder = await openExports(settings, signal)
    try {
      const { scan, complete, isGrowing } = await scanFolder(
        folder,
        lastScan?.address === address ? lastScan.scan : undefined,
      )
      lastScans.set(service.id, { address, scan })
      let hasIncomplete = isGrowing
      for (const file of complete) {
        if (signal.aborted) return
        if (!(await importFile(folder, file, work))) hasIncomplete = true
      }
      await resolveAlert(db, service.id, { kind: unreadable, subject: '' })
      reschedule(hasIncomplete ? recheckDelaySeconds : pollIntervalSeconds)
    } finally {
      await folder.close()
    }
  } catch (error) {
    const isLasting = error instanceof ExportsUnreadable && error.isLasting
    if (!signal.aborted && (isLasting || attempt >= failuresBeforeAlert) && !(error instanceof DatabaseUnavailable)) {
      const { code = 'no code' } = error as NodeJS.ErrnoException
      const detail = error instanceof ExportsUnreadable ? error.message : `The exports can't be imported: ${code}.`
      await raiseAlert(db, service.id, { kind: unreadable, subject: '', detail: detail.slice(0, 500) })
    }
    throw error
  }
}

/** Imports a file. Returns false if the file is still being written, so that it waits for another check. */
async function importFile(
  folder: ExportFolder,
  file: ExportFile,
  { db, service, log, signal }: ServiceJobRun,
): Promise<boolean> {
  const { type, name, version } = file
  const startedAt = performance.now()
  const isUnchanged = async () => isSameVersion(await folder.getVersion(name), version)
  let imported: ExportResult = { ...createCounts(), error: tooLarge }
  if (version.size <= maxBytes) {
    const localCopy = await folder.fetch(name, version)
    if (!(await isUnchanged())) return false
    imported = await importExport(db, service, { type, name, ...localCopy }, signal)
  }
  if (!(await isUnchanged())) return false
  const { error, notes: _, ...counts } = imported
  const isComplete = error === undefined && counts.rejected === 0
  if (!isComplete) {
    // Recorded before the file is moved, because a crash after the move would lose the alert.
    const detail =
      error ??
      `${counts.rejected} of ${counts.read} lines were rejected. They are in the file next to it, with reasons.`
    await raiseAlert(db, service.id, { kind: rejected, subject: name, detail: detail.slice(0, 500) })
  }
  const place = await folder.moveTo(name, isComplete ? 'done' : 'failed')
  const seconds = Math.round(performance.now() - startedAt) / 1_000
  const fields = { service: service.name, file: name, place, ...counts, seconds }
  if (isComplete) log.info(fields, 'export file imported')
  else log.error({ ...fields, alert: rejected, fault: error }, 'export file not imported completely')
  return true
}

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
import { noCounts } from '../import/pipeline/counts.ts'
import { type ExportPlace, ExportsUnreadable } from '../import/sources/export-source.ts'
import { openExports } from '../import/sources/open-source.ts'
import { raiseAlert, resolveAlert } from '../store/alerts/alerts.ts'
import { forService, type Job, type ServiceJobRun } from './job.ts'

/** Seconds between two looks into a place; and until a file that has just come is looked at again. */
const lookSeconds = 60
const soonSeconds = 5
const failuresToTell = 5

const unreadable = 'export_folder_unreadable'
const rejected = 'export_file_rejected'

/** A fingerprint of the folder. It means nothing at another address. */
interface Looked {
  address: string
  scan: FolderScan
}

/** Imports the files that a back office leaves for a service, each once: it is then in `done/`, or in `failed/` with what was rejected. */
export const importExports = (offices: BackOffices): Job => {
  const looks = new Map<number, Looked>()
  return {
    run: forService(work => run(offices, looks, work)),
    // A server that does not answer keeps no other service waiting.
    concurrency: 2,
    retryDelaysSeconds: [15, 60, 300, 900],
  }
}

async function run(offices: BackOffices, looks: Map<number, Looked>, work: ServiceJobRun): Promise<void> {
  const { db, service, attempt, signal, reschedule } = work
  const settings = offices.getSettings(service)
  const { exportFolder: address } = settings
  if (address === undefined) return
  const before = looks.get(service.id)
  try {
    const place = await openExports(settings, signal)
    try {
      const { scan, complete, isGrowing } = await scanFolder(
        place,
        before?.address === address ? before.scan : undefined,
      )
      looks.set(service.id, { address, scan })
      let left = isGrowing
      for (const file of complete) {
        if (signal.aborted) return
        if (!(await take(place, file, work))) left = true
      }
      await resolveAlert(db, service.id, { kind: unreadable, subject: '' })
      reschedule(left ? soonSeconds : lookSeconds)
    } finally {
      await place.close()
    }
  } catch (error) {
    const isLasting = error instanceof ExportsUnreadable && error.isLasting
    if (!signal.aborted && (isLasting || attempt >= failuresToTell) && !(error instanceof DatabaseUnavailable)) {
      const { code = 'no code' } = error as NodeJS.ErrnoException
      const detail = error instanceof ExportsUnreadable ? error.message : `The exports cannot be taken: ${code}.`
      await raiseAlert(db, service.id, { kind: unreadable, subject: '', detail: detail.slice(0, 500) })
    }
    throw error
  }
}

/** Imports a file. Returns false if the file is still being written, so that it waits for another check. */
async function take(
  place: ExportPlace,
  file: ExportFile,
  { db, service, log, signal }: ServiceJobRun,
): Promise<boolean> {
  const { type, name, mark } = file
  const begun = performance.now()
  const isWhole = async () => isSameVersion(await place.markOf(name), mark)
  let imported: ExportResult = { ...noCounts(), error: tooLarge }
  if (mark.size <= maxBytes) {
    const brought = await place.bring(name, mark)
    if (!(await isWhole())) return false
    imported = await importExport(db, service, { type, name, ...brought }, signal)
  }
  if (!(await isWhole())) return false
  const { error: fault, notes: _, ...counts } = imported
  const isGood = fault === undefined && counts.rejected === 0
  if (!isGood) {
    // Recorded before the file is moved, because no one would find it after that.
    const detail =
      fault ??
      `${counts.rejected} of ${counts.read} lines were rejected. They are in the file next to it, with reasons.`
    await raiseAlert(db, service.id, { kind: rejected, subject: name, detail: detail.slice(0, 500) })
  }
  const left = await place.leave(name, isGood ? 'done' : 'failed')
  const seconds = Math.round(performance.now() - begun) / 1_000
  const about = { service: service.name, file: name, place: left, ...counts, seconds }
  if (isGood) log.info(about, 'export file imported')
  else log.error({ ...about, alert: rejected, fault }, 'export file not imported completely')
  return true
}

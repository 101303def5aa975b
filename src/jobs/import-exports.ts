import { ApiError } from '../errors.ts'
import type { Offices } from '../offices.ts'
import { raiseAlert, settleAlert } from '../store/alerts.ts'
import { type ExportFile, type Look, lookInto } from './export-files.ts'
import { importExport } from './export-import.ts'
import type { Job, Work } from './job.ts'

/** Seconds between two looks into a folder; and until a file that has just come is looked at again. */
const lookSeconds = 60
const soonSeconds = 5
const failuresToTell = 5

const unreadable = 'exports_unreadable'
const refused = 'export_refused'

/** Imports the files that a back office leaves in a service's folder, each once: it is then in `done/`, or in `failed/` with what was refused. */
export const importExports = (offices: Offices): Job => {
  const looks = new Map<number, Look>()
  return {
    run: work => run(offices, looks, work),
    atOnce: 1,
    waitsSeconds: [15, 60, 300, 900],
  }
}

async function run(offices: Offices, looks: Map<number, Look>, work: Work): Promise<void> {
  const { db, service, attempt, signal, comeAgain } = work
  const folder = service && offices.settingsOf(service).exports
  if (!service || folder === undefined) return
  const before = looks.get(service.id)
  try {
    const { look, complete, growing } = await lookInto(folder, before?.folder === folder ? before : undefined)
    looks.set(service.id, look)
    await settleAlert(db, service.id, { kind: unreadable, subject: '' })
    for (const file of complete) {
      if (signal.aborted) return
      await take(file, work)
    }
    comeAgain(growing ? soonSeconds : lookSeconds)
  } catch (error) {
    if (!signal.aborted && attempt >= failuresToTell && !(error instanceof ApiError)) {
      const { code = 'no code' } = error as NodeJS.ErrnoException
      await raiseAlert(db, service.id, { kind: unreadable, subject: '', detail: `The folder of exports: ${code}.` })
    }
    throw error
  }
}

async function take(file: ExportFile, { db, service, log, signal }: Work) {
  if (!service) return
  const begun = performance.now()
  const { counts, fault } = await importExport(db, service, file, signal)
  const isGood = fault === undefined && counts.refused === 0
  const place = await file.leave(isGood ? 'done' : 'failed')
  const seconds = Math.round(performance.now() - begun) / 1_000
  const about = { service: service.name, file: file.name, place, ...counts, seconds }
  if (isGood) {
    log.info(about, 'An export was imported.')
    return
  }
  const detail = fault ?? `${counts.refused} of ${counts.read} lines were refused; they are beside it, with reasons.`
  await raiseAlert(db, service.id, { kind: refused, subject: file.name, detail: detail.slice(0, 500) })
  log.error({ ...about, alert: refused, fault }, 'An export was not, or not all, imported.')
}

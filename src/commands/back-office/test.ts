import { scanFolder } from '../../backoffice/apparel21/export-files/files.ts'
import { drivers } from '../../backoffice/drivers.ts'
import type { Database } from '../../database/db.ts'
import type { BackOfficeSettings } from '../../domain/tenancy/back-office-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { countNoun } from '../../domain/values/nouns.ts'
import { ApiError } from '../../errors/api-error.ts'
import { openExports } from '../../import/sources/open-source.ts'

const exportFolderTimeoutMs = 120_000

/** Tests a service's back office and its export folder. Throws an error that lists every failure. */
export async function testBackOffice(settings: BackOfficeSettings, service: Service, db: Database) {
  const failures: string[] = []
  for (const test of [testApi, testExportFolder])
    await test(settings, service, db).catch(({ message }: Error) => failures.push(message))
  if (failures.length) throw new Error(failures.join('\n'))
}

async function testApi(settings: BackOfficeSettings, service: Service, db: Database) {
  const log = { info() {}, warn: (facts: object, message: string) => console.error(message, JSON.stringify(facts)) }
  const driver = drivers[settings.driver](settings, service, log)
  try {
    if (!driver.isEmbedded) {
      const { release, stores, currency } = await driver.probe()
      console.log(
        `Connected: version ${release ?? 'unknown'}, ${countNoun(stores, 'store')}${currency ? `, ${currency}` : ''}.`,
      )
      if (currency !== undefined && currency !== service.settings.currency)
        console.log(
          `The service uses ${service.settings.currency}. To change it: tillbridge service set ${service.name} currency=${currency}`,
        )
    }
    for (const { name, available, reason } of (await driver.backOffice(service).capabilities(db)).capabilities)
      console.log(
        `${available ? 'available  ' : 'unavailable'}  ${name}${reason ? `: ${reason.replaceAll('`', '')}` : ''}`,
      )
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { cause } = error
    const reason = cause instanceof Error && cause.message ? ` ${cause.message}` : ''
    const code = ((cause as Error | undefined)?.cause as NodeJS.ErrnoException | undefined)?.code
    throw new Error(
      `The back office of ${service.name} failed: ${error.message}${reason} (${[error.code, code].filter(Boolean).join(', ')})`,
    )
  } finally {
    driver.close()
  }
}

/** Also creates the subfolders, as the first import would: a folder that can be read can't always be written to. */
async function testExportFolder(settings: BackOfficeSettings) {
  if (settings.exportFolder === undefined) return
  const folder = await openExports(settings, AbortSignal.timeout(exportFolderTimeoutMs))
  try {
    await folder.createFolders()
    const { scan } = await scanFolder(folder, undefined)
    console.log(`Export folder: ${settings.exportFolder} can be read and written. Waiting files: ${scan.size}.`)
  } finally {
    await folder.close()
  }
}

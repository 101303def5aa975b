import { lookInto } from '../../backoffice/apparel21/export-files/files.ts'
import { drivers } from '../../backoffice/drivers.ts'
import type { Database } from '../../database/db.ts'
import type { BackOfficeSettings } from '../../domain/tenancy/back-office-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { ApiError } from '../../errors/api-error.ts'
import { openExports } from '../../import/sources/open-source.ts'

const exportsMs = 120_000

/** Asks the back office of a service, and looks where its exports arrive. Throws with all that fails. */
export async function examine(settings: BackOfficeSettings, service: Service, db: Database) {
  const faults: string[] = []
  for (const part of [examineApi, examineExports])
    await part(settings, service, db).catch(({ message }: Error) => faults.push(message))
  if (faults.length) throw new Error(faults.join('\n'))
}

async function examineApi(settings: BackOfficeSettings, service: Service, db: Database) {
  const log = { info() {}, warn: (facts: object, message: string) => console.error(message, JSON.stringify(facts)) }
  const driver = drivers[settings.driver](settings, service, log)
  try {
    if (!driver.isOurs) {
      const { release, stores, currency } = await driver.look()
      console.log(`Reached: release ${release ?? 'unknown'}, ${stores} stores${currency ? `, ${currency}` : ''}.`)
      if (currency !== undefined && currency !== service.settings.currency)
        console.log(
          `The service is set to ${service.settings.currency}: tillbridge service set ${service.name} currency=${currency}`,
        )
    }
    for (const { name, available, reason } of (await driver.backOffice(service).capabilities(db)).capabilities)
      console.log(`${available ? 'works ' : 'lacks '} ${name}${reason ? `: ${reason.replaceAll('`', '')}` : ''}`)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new Error(`The back office of ${service.name} does not answer as it should: ${error.message} (${error.code})`)
  } finally {
    driver.close()
  }
}

/** Makes its folders, as the first file would: what may be read may not have to be ours to write. */
async function examineExports(settings: BackOfficeSettings) {
  if (settings.exports === undefined) return
  const place = await openExports(settings, AbortSignal.timeout(exportsMs))
  try {
    await place.makeRoom()
    const { look } = await lookInto(place, undefined)
    console.log(`Exports: ${settings.exports} is reached; files that wait there: ${look.size}.`)
  } finally {
    await place.close()
  }
}

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach } from 'node:test'
import { pino } from 'pino'
import { startSimulator } from '../../../simulator/simulator.ts'
import { type BackOffices, openBackOffices } from '../../../src/backoffice/back-offices.ts'
import { deriveKeys } from '../../../src/crypto/keys.ts'
import { sql } from '../../../src/database/db.ts'
import type { BackOfficeSettings } from '../../../src/domain/tenancy/back-office-settings.ts'
import type { ExportFolder } from '../../../src/import/sources/export-source.ts'
import { openExports } from '../../../src/import/sources/open-source.ts'
import type { Job } from '../../../src/jobs/job.ts'
import { buildBackOfficeJobs } from '../../../src/jobs/jobs.ts'
import { listAlerts, resolveAlertsOfKind } from '../../../src/store/alerts/alerts.ts'
import { setBackOffice } from '../../../src/store/backoffice/connections.ts'
import { addService } from '../../../src/store/tenancy/services.ts'
import { createTestDatabase } from '../../support/database.ts'
import { startSshd } from '../../support/sshd.ts'
import { openExportFolder } from './export-folder.ts'

export type Change = { [name in keyof BackOfficeSettings]?: BackOfficeSettings[name] | undefined }
export const createSignal = () => new AbortController().signal
export const csvHeader = 'PERIDX,PERSON_CODE,FIRSTNAME,SURNAME,DOB,STORE_NUMBER,RETAIL_REP\r\n'
export const buildPersonLine = (id: number, dateOfBirth = '1980-02-29') =>
  `${id},P${id},Jo,Sample,${dateOfBirth},,No\r\n`

/** Starts, for a suite, an SFTP server with the exports of a service's back office, and the job that imports them. */
export async function startSftpFixture() {
  const secret = randomBytes(32).toString('hex')
  const keys = deriveKeys(secret)
  const logLines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => logLines.push(line) })
  // Only this process writes copies of remote files to this folder.
  const temporary = mkdtempSync(join(tmpdir(), 'tillbridge-exports-'))
  process.env.TMPDIR = temporary
  const sshd = await startSshd()
  const simulator = await startSimulator({ sizes: { persons: 10 } })
  const { db, connection, drop } = await createTestDatabase()
  const luma = (await addService(db, 'luma', { currency: 'AUD' })) ?? assert.fail()
  const settings: BackOfficeSettings = {
    driver: 'apparel21',
    url: simulator.url,
    country: 'AU',
    exportFolder: `sftp://${sshd.user}@127.0.0.1:${sshd.port}${sshd.folder}`,
    sftpHostKey: sshd.hostKey,
    sftpKeyFile: sshd.keyFile,
  }
  const buildSettings = (change: Change) =>
    Object.fromEntries(
      Object.entries({ ...settings, ...change }).filter(([, value]) => value !== undefined),
    ) as unknown as BackOfficeSettings

  let offices: BackOffices | undefined
  let job: Job
  /** Sets the back office and creates the job again, so that the job has seen no file yet. */
  async function setBackOfficeSettings(change: Change) {
    await setBackOffice(db, keys, luma, buildSettings(change))
    offices?.close()
    offices = await openBackOffices({ db, keys, defaults: { driver: 'embedded' }, log })
    job = buildBackOfficeJobs(offices)['import-exports'] ?? assert.fail()
  }
  const jobRun = {
    db,
    keys,
    log,
    mailTransport: { send: async () => {} },
    subject: '',
    isLastAttempt: false,
    renewLease: async () => true,
    reschedule() {},
  }
  /** Runs the job once, as the worker does. */
  const runJob = () => job.run({ ...jobRun, service: luma, attempt: 1, signal: createSignal() })

  await setBackOfficeSettings({})
  beforeEach(() => resolveAlertsOfKind(db, luma.id, 'export_file_rejected'))
  after(async () => {
    offices?.close()
    await drop()
    await simulator.close()
    await sshd.remove()
    rmSync(temporary, { recursive: true })
  })
  return {
    ...openExportFolder(sshd.folder),
    sshd,
    simulator,
    db,
    connection,
    luma,
    secret,
    keys,
    settings,
    buildSettings,
    setBackOfficeSettings,
    runJob,
    logLines,
    async importAll() {
      await runJob()
      await runJob()
    },
    async withExportFolder<T>(work: (place: ExportFolder) => Promise<T>, change: Change = {}) {
      const place = await openExports(buildSettings(change), createSignal())
      try {
        return await work(place)
      } finally {
        await place.close()
      }
    },
    findAlert: async (kind: string) => (await listAlerts(db)).find(alert => alert.kind === kind),
    loadCustomers: () =>
      db.row<{ ids: string[]; changed: string }>(
        sql`select coalesce(array_agg(id order by id), '{}') as ids, max(changed_at)::text as changed from customer`,
      ),
    /** Lists the copies of remote files on this machine. */
    listCopies: () => readdirSync(temporary).filter(name => name.startsWith('tillbridge-sftp-')),
  }
}

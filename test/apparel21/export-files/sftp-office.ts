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
import { filesLeftIn } from './left-files.ts'

export type Change = { [name in keyof BackOfficeSettings]?: BackOfficeSettings[name] | undefined }
export const never = () => new AbortController().signal
export const head = 'PERIDX,PERSON_CODE,FIRSTNAME,SURNAME,DOB,STORE_NUMBER,RETAIL_REP\r\n'
export const person = (id: number, dateOfBirth = '1980-02-29') => `${id},P${id},Jo,Sample,${dateOfBirth},,No\r\n`

/** For the tests of a suite: a service whose back office leaves its exports on an SFTP server, and the job that takes them from there. */
export async function sftpOfTests() {
  const secret = randomBytes(32).toString('hex')
  const keys = deriveKeys(secret)
  const logLines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => logLines.push(line) })
  // No other process has copies of files there.
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
  const changed = (change: Change) =>
    Object.fromEntries(
      Object.entries({ ...settings, ...change }).filter(([, value]) => value !== undefined),
    ) as unknown as BackOfficeSettings

  let offices: BackOffices | undefined
  let job: Job
  /** Sets the back office, for a process that has not seen anything yet. */
  async function set(change: Change) {
    await setBackOffice(db, keys, luma, changed(change))
    offices?.close()
    offices = await openBackOffices({ db, keys, defaults: { driver: 'embedded' }, log })
    job = buildBackOfficeJobs(offices)['import-exports'] ?? assert.fail()
  }
  const tools = {
    db,
    keys,
    log,
    mailTransport: { send: async () => {} },
    subject: '',
    isLastAttempt: false,
    renewLease: async () => true,
    reschedule() {},
  }
  /** Looks into the place once, as the worker does. */
  const look = () => job.run({ ...tools, service: luma, attempt: 1, signal: never() })

  await set({})
  beforeEach(() => resolveAlertsOfKind(db, luma.id, 'export_file_rejected'))
  after(async () => {
    offices?.close()
    await drop()
    await simulator.close()
    await sshd.remove()
    rmSync(temporary, { recursive: true })
  })
  return {
    ...filesLeftIn(sshd.folder),
    sshd,
    simulator,
    db,
    connection,
    luma,
    secret,
    keys,
    settings,
    changed,
    set,
    look,
    logLines,
    async takeAll() {
      await look()
      await look()
    },
    async placed<T>(work: (place: ExportFolder) => Promise<T>, change: Change = {}) {
      const place = await openExports(changed(change), never())
      try {
        return await work(place)
      } finally {
        await place.close()
      }
    },
    alertOf: async (kind: string) => (await listAlerts(db)).find(alert => alert.kind === kind),
    customers: () =>
      db.row<{ ids: string[]; changed: string }>(
        sql`select coalesce(array_agg(id order by id), '{}') as ids, max(changed_at)::text as changed from customer`,
      ),
    /** Copies of files that are on this machine. */
    copies: () => readdirSync(temporary).filter(name => name.startsWith('tillbridge-sftp-')),
  }
}

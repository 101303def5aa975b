import assert from 'node:assert/strict'
import { type Logger, pino } from 'pino'
import { openBackOffices } from '../../src/backoffice/back-offices.ts'
import { buildBackOfficeJobs, jobs } from '../../src/jobs/jobs.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import type { TestApi } from '../support/service.ts'

interface WorkerOptions {
  /** Names of the jobs to run. The default is all jobs. */
  jobNames?: readonly string[]
  log?: Logger
  publicUrl?: string
}

/** Starts a worker for services with an embedded back office and a platform. Sends no email. */
export async function startPlatformWorker(
  { db, keys }: Pick<TestApi, 'db' | 'keys'>,
  { jobNames, log = pino({ level: 'silent' }), publicUrl }: WorkerOptions = {},
) {
  const offices = await openBackOffices({ db, keys, defaults: { driver: 'embedded' }, log })
  const allJobs = { ...jobs, ...buildBackOfficeJobs(offices) }
  const names = jobNames ?? Object.keys(allJobs)
  const worker = startWorker(
    { db, keys, log, mailTransport: { send: async () => {} }, publicUrl },
    Object.fromEntries(names.map(name => [name, allJobs[name] ?? assert.fail(name)])),
  )
  return {
    async stop() {
      await worker.stop(1_000)
      offices.close()
    },
  }
}

export type PlatformWorker = Awaited<ReturnType<typeof startPlatformWorker>>

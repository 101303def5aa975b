import assert from 'node:assert/strict'
import { after, afterEach } from 'node:test'
import { type Logger, pino } from 'pino'
import type { Simulator } from '../../../simulator/control/handle.ts'
import type { Person } from '../../../simulator/shop/records.ts'
import { startSimulator } from '../../../simulator/simulator.ts'
import type { Limits } from '../../../src/backoffice/apparel21/client/connection.ts'
import { buildSyncs } from '../../../src/backoffice/apparel21/syncs/syncs.ts'
import type { BackOffice } from '../../../src/backoffice/port/back-office.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { runSync } from '../../../src/sync/sync.ts'
import { connectToBackOffice, settings } from '../../drivers/apparel21.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi, type TestApi, type TestResponse } from '../../support/service.ts'
import { startHttpServer, startRawServer, type TestServer } from '../servers.ts'

/** Short timeouts, so that tests don't wait for deadlines. */
export const shortLimits = { deadlineMs: 700, patienceMs: 0 }
/** A reward account response for servers that replace the back office. */
export const account = `<RewardAccount><Id>7</Id><ProgramId>1</ProgramId><ProgramName>R</ProgramName><PersonId>3001</PersonId><PointsList Type="Array" /></RewardAccount>`

/** A caller of a service, with the syncs of its back office. */
export interface ServiceCaller extends Caller {
  sync(sync: string): ReturnType<typeof runSync>
}

/** An API server with services whose back offices a test chooses. */
export interface FaultFixture {
  api: TestApi
  /** A working back office. Faults are removed after each test. */
  simulator: Simulator
  /** Creates a service whose back office has this URL. */
  createServiceFor(url: string, limits?: Partial<Limits>): Promise<ServiceCaller>
  /** Starts a server that replaces the back office. Returns its URL. */
  startServer(...listener: Parameters<typeof startHttpServer>): Promise<string>
  /** Starts a TCP server that replaces the back office. */
  startRawServer(...args: Parameters<typeof startRawServer>): Promise<TestServer>
  log: Logger
  /** Log lines of the API server and its clients. */
  logLines: string[]
  /** Closes something after the tests of the file. Returns it. */
  closeAfterTests<T extends { close(): unknown }>(open: T): T
  /** Returns a path whose data is read from the back office for each request. */
  getLivePath(): string
  findPerson(): Person
  /** Asserts a 503 with `Retry-After`. */
  assertUnavailable(response: TestResponse, baseUrl?: string): void
  /** Asserts a 502 without any content of the back office's response. */
  assertInvalidResponse(response: TestResponse, label?: string): void
}

export async function startFaultFixture(): Promise<FaultFixture> {
  const simulator = await startSimulator({ sizes: { stores: 3, styles: 6, persons: 25, vouchers: 1 } })
  const offices = new Map<number, (service: Service) => BackOffice>()
  const api = await startTestApi({
    settings,
    role: 'maintainer',
    backOffice: service => (offices.get(service.id) ?? assert.fail('a service has no back office'))(service),
  })
  const logLines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void logLines.push(line) })
  const open: { close(): unknown }[] = []
  const closeAfterTests = <T extends { close(): unknown }>(closable: T) => {
    open.push(closable)
    return closable
  }
  after(async () => {
    for (const closable of open) await closable.close()
    await api.stop()
    await simulator.close()
  })
  afterEach(async () => {
    simulator.faults.clear()
    simulator.ledger.clear()
    await simulator.accept()
  })
  return {
    api,
    simulator,
    log,
    logLines,
    closeAfterTests,
    async createServiceFor(url, limits = shortLimits) {
      const caller = await api.createService(settings)
      const logWithService = (facts: object, message: string) =>
        log.warn({ ...facts, service: caller.service.name }, message)
      const { client, release, backOffice } = connectToBackOffice(
        { url },
        { limits, log: { info: logWithService, warn: logWithService } },
      )
      closeAfterTests(client)
      offices.set(caller.service.id, backOffice)
      const syncs = buildSyncs(client, release)
      const sync = (name: string) => {
        const definition = syncs.find(candidate => candidate.name === name) ?? assert.fail(name)
        return runSync(api.db, caller.service, definition, { full: true })
      }
      return { ...caller, sync }
    },
    startServer: async (...listener) => closeAfterTests(await startHttpServer(...listener)).url,
    startRawServer: async (...args) => closeAfterTests(await startRawServer(...args)),
    getLivePath() {
      const [anyAccount] = simulator.state.accounts.values()
      return `/rewards/accounts/${anyAccount?.id ?? assert.fail('no person has rewards')}`
    },
    findPerson: () => [...simulator.state.persons.values()].find(({ email }) => email !== '') ?? assert.fail(),
    assertUnavailable(response, baseUrl = api.baseUrl) {
      assertProblem(response, 'back_office_unavailable', baseUrl)
      assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/)
    },
    assertInvalidResponse(response, label = '') {
      assert.equal(response.json?.code, 'back_office_error', `${label} ${response.text}`)
      assertProblem(response, 'back_office_error', api.baseUrl)
      assert.doesNotMatch(response.text.replaceAll(api.baseUrl, ''), /<|html|127\.0\.0\.1|RetailAPI/i, label)
    },
  }
}

/** Returns a response and how many milliseconds it took. */
export async function measure(work: Promise<TestResponse>) {
  const began = performance.now()
  const response = await work
  return { response, ms: performance.now() - began }
}

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
import { behind, settings } from '../../drivers/apparel21.ts'
import { assertProblem } from '../../support/problem.ts'
import { type Caller, startTestApi, type TestApi, type TestResponse } from '../../support/service.ts'
import { answering, type StandIn, startRawServer } from '../stand-in.ts'

/** Short timeouts, so that tests don't wait for deadlines. */
export const short = { deadlineMs: 700, patienceMs: 0 }
/** A reward account, as a stand-in for the back office answers with it. */
export const account = `<RewardAccount><Id>7</Id><ProgramId>1</ProgramId><ProgramName>R</ProgramName><PersonId>3001</PersonId><PointsList Type="Array" /></RewardAccount>`

/** A service in front of a back office. */
export interface Fronted extends Caller {
  sync(sync: string): ReturnType<typeof runSync>
}

/** The API in front of back offices that a test chooses, with limits of its own. */
export interface Fronting {
  api: TestApi
  /** A back office that is as it should be, until a test adds a fault; without any after each. */
  simulator: Simulator
  /** A service in front of the back office that is there. */
  fronting(url: string, limits?: Partial<Limits>): Promise<Fronted>
  /** Starts a server in the back office's place. Returns its address. */
  serving(...listener: Parameters<typeof answering>): Promise<string>
  /** One that says bytes of its own choice. */
  startRawServer(...args: Parameters<typeof startRawServer>): Promise<StandIn>
  log: Logger
  /** The lines that were logged. */
  logged: string[]
  /** Has something closed when the tests of the file are over. */
  closes<T extends { close(): unknown }>(open: T): T
  /** The path of what is read at the back office. */
  live(): string
  aPerson(): Person
  /** Asserts a 503 with `Retry-After`. */
  isAway(response: TestResponse, baseUrl?: string): void
  /** Asserts a 502 that nothing of the back office's answer passes through. */
  isNonsense(response: TestResponse, what?: string): void
}

export async function frontingOfTests(): Promise<Fronting> {
  const simulator = await startSimulator({ sizes: { stores: 3, styles: 6, persons: 25, vouchers: 1 } })
  const offices = new Map<number, (service: Service) => BackOffice>()
  const api = await startTestApi({
    settings,
    role: 'maintainer',
    backOffice: service => (offices.get(service.id) ?? assert.fail('each has one'))(service),
  })
  const logged: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) })
  const open: { close(): unknown }[] = []
  const closes = <T extends { close(): unknown }>(closable: T) => {
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
    logged,
    closes,
    async fronting(url, limits = short) {
      const caller = await api.createService(settings)
      const report = (facts: object, message: string) => log.warn({ ...facts, service: caller.service.name }, message)
      const { client, release, backOffice } = behind({ url }, { limits, log: { info: report, warn: report } })
      closes(client)
      offices.set(caller.service.id, backOffice)
      const syncs = buildSyncs(client, release)
      const sync = (name: string) => {
        const definition = syncs.find(candidate => candidate.name === name) ?? assert.fail(name)
        return runSync(api.db, caller.service, definition, { full: true })
      }
      return { ...caller, sync }
    },
    serving: async (...listener) => closes(await answering(...listener)).url,
    startRawServer: async (...args) => closes(await startRawServer(...args)),
    live() {
      const [anyAccount] = simulator.state.accounts.values()
      return `/rewards/accounts/${anyAccount?.id ?? assert.fail('no person has rewards')}`
    },
    aPerson: () => [...simulator.state.persons.values()].find(({ email }) => email !== '') ?? assert.fail(),
    isAway(response, baseUrl = api.baseUrl) {
      assertProblem(response, 'back_office_unavailable', baseUrl)
      assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/)
    },
    isNonsense(response, label = '') {
      assert.equal(response.json?.code, 'back_office_error', `${label} ${response.text}`)
      assertProblem(response, 'back_office_error', api.baseUrl)
      assert.doesNotMatch(response.text.replaceAll(api.baseUrl, ''), /<|html|127\.0\.0\.1|RetailAPI/i, label)
    },
  }
}

/** An answer, and after how many milliseconds it came. */
export async function took(work: Promise<TestResponse>) {
  const began = performance.now()
  const response = await work
  return { response, ms: performance.now() - began }
}

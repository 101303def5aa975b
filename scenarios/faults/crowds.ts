import { readFileSync } from 'node:fs'
import { connect as connectPlain, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { Command } from 'commander'
import { randomFor } from '../../seed/random.ts'
import { sql } from '../../src/database/db.ts'
import { upsertCustomers } from '../../src/store/customers/customers.ts'
import { check } from '../support/expectations/check.ts'
import { openInstallation } from '../support/installation.ts'
import { openClient, toOutcome } from '../support/operations/client.ts'
import { parseInteger } from '../support/options.ts'
import { report } from '../support/report.ts'
import { generateCustomers } from './generated-customers.ts'
import { findProcess } from './process-resources.ts'

const { handshakes, slow, readers, crowds, keep } = new Command('npm run scenario -- crowds')
  .description(
    'Opens crowds of clients that stall: handshakes, headers and bodies that never end, and clients that do not read. Checks that other clients are\nserved and that Tillbridge closes all stalled connections. Memory, files, timers and database sessions must return to their level within 60 s.\nThe last crowd must need no more memory than the previous ones.',
  )
  .option('--handshakes <number>', 'number of handshakes that never end', parseInteger, 500)
  .option(
    '--slow <number>',
    'number of requests that never end: half in their headers, half in their bodies',
    parseInteger,
    500,
  )
  .option('--readers <number>', "number of clients that don't read their responses", parseInteger, 1_000)
  .option('--crowds <number>', 'number of crowds, one after the other', parseInteger, 3)
  .option('--keep', 'writes the table to bench/results/')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run scenario -- crowds\n  npm run scenario -- crowds --handshakes 50 --slow 50 --readers 50 --crowds 1\n',
  )
  .parse()
  .opts<{ handshakes: number; slow: number; readers: number; crowds: number; keep?: boolean }>()

const longStreet = 'A street with a name of exactly fifty characters ..'.slice(0, 50)
const installation = await openInstallation({
  environment: { NODE_OPTIONS: `--import=${new URL('process-resources.ts', import.meta.url)}` },
  prepare: async ({ db: database, service }) => {
    await upsertCustomers(database, service, generateCustomers(500, longStreet))
  },
})
const { db, credentials, apis } = installation
const [server] = apis
if (!server) throw new Error('an API process was started')
const api = openClient(apis, credentials, randomFor('crowds'))
const { port } = new URL(server.baseUrl)
const ca = readFileSync(join(server.dataDirectory, 'tls/ca.pem'))
const identity = `authorization: Basic ${credentials.apiKey}\r\nx-service-name: ${credentials.service}\r\n`

const serverProcess = await findProcess(server.dataDirectory)
const measure = async () => ({
  ...(await serverProcess.measure()),
  busy: await db.run(
    sql`select from pg_stat_activity where application_name like 'api-%' and (state <> 'idle' or xact_start is not null)`,
  ),
})
async function readPage() {
  const startedAt = performance.now()
  const { status } = await toOutcome(api.customers.search({ limit: 100 }).page())
  return { status, ms: performance.now() - startedAt }
}

const openSockets = new Set<Socket>()
const track = (socket: Socket) => {
  openSockets.add(socket)
  return socket.on('error', () => {}).on('close', () => openSockets.delete(socket))
}
/** Opens a TLS connection and sends a text. */
const sendOverTls = (text: string) =>
  new Promise<Socket>(resolve => {
    const socket = connectTls({
      port: Number(port),
      host: '127.0.0.1',
      servername: 'localhost',
      ca,
      ALPNProtocols: ['http/1.1'],
    })
    track(socket).once('close', () => resolve(socket))
    socket.once('secureConnect', () => {
      socket.write(text)
      resolve(socket)
    })
  })

/** Opens one crowd, and waits until its resources are free again, at most a minute each. */
async function runCrowd(baseline: Awaited<ReturnType<typeof measure>>) {
  const head = `Host: localhost\r\n${identity}`
  for (let i = 0; i < handshakes; i++) track(connectPlain(Number(port), '127.0.0.1')).resume()
  for (let i = 0; i < slow; i++)
    (
      await sendOverTls(
        i % 2
          ? `GET /stores HTTP/1.1\r\n${head}`
          : `POST /customers HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{`,
      )
    ).resume()
  // Enough requests to fill all buffers: the server has more to send than the connection takes.
  for (let i = 0; i < readers; i++)
    (await sendOverTls(`GET /customers/search?limit=100 HTTP/1.1\r\n${head}\r\n`.repeat(20))).pause()
  const peak = await measure()
  const pages = []
  for (let i = 0; i < 20; i++) pages.push(await readPage())
  const startedAt = performance.now()
  const elapsedSeconds = () => (performance.now() - startedAt) / 1_000
  while ([...openSockets].some(socket => !socket.isPaused()) && elapsedSeconds() < 60) await delay(500)
  const closedSeconds = elapsedSeconds()
  const stalled = [...openSockets].filter(socket => !socket.isPaused()).length
  // Clients that don't read don't notice that their connection is closed, but the server has fewer files.
  let current = await measure()
  for (; current.files > baseline.files + 5 && elapsedSeconds() < 120; current = await measure()) await delay(1_000)
  const readersClosedSeconds = elapsedSeconds()
  for (const socket of openSockets) socket.destroy()
  const isReleased = () =>
    current.busy === 0 && current.timers <= baseline.timers + 5 && current.liveMebibytes <= baseline.liveMebibytes + 30
  for (; !isReleased() && elapsedSeconds() < readersClosedSeconds + 60; current = await measure()) {
    await delay(500)
    await readPage()
  }
  return { peak, pages, closedSeconds, stalled, current, readersClosedSeconds, freeSeconds: elapsedSeconds() }
}

try {
  for (let i = 0; i < 20; i++) await readPage()
  const baseline = await measure()
  const crowdResults = [await runCrowd(baseline)]
  while (crowdResults.length < crowds) crowdResults.push(await runCrowd(baseline))
  type Crowd = (typeof crowdResults)[number]
  const customers = await db.run(sql`select from customer`)
  const pages = crowdResults.flatMap(crowd => crowd.pages)
  const formatList = (toValue: (crowd: Crowd) => number) => crowdResults.map(toValue).join(', ')
  const formatSeconds = (toValue: (crowd: Crowd) => number) =>
    crowdResults.map(crowd => toValue(crowd).toFixed(1)).join(', ')
  const peaks = crowdResults.map(({ peak }) => peak.residentMebibytes)
  const [lastPeak = 0, previousPeak = lastPeak] = [peaks.at(-1), Math.max(...peaks.slice(0, -1))].filter(
    Number.isFinite,
  )
  const listExcess = (resource: 'files' | 'timers' | 'liveMebibytes' | 'busy', allowed: number) =>
    crowdResults
      .map(({ current }) => current[resource] - baseline[resource])
      .flatMap(excess => (excess > allowed ? [`${excess} more`] : []))
  report('crowds', {
    keep,
    measurements: [
      ["handshakes, requests that never end, clients that don't read", `${handshakes}, ${slow}, ${readers}`],
      ['files before, with each crowd', `${baseline.files}, ${formatList(({ peak }) => peak.files)}`],
      ['files after each', formatList(({ current }) => current.files)],
      [
        'MiB of objects and buffers before, with each crowd',
        `${baseline.liveMebibytes}, ${formatList(({ peak }) => peak.liveMebibytes)}`,
      ],
      ['MiB of objects and buffers after each', formatList(({ current }) => current.liveMebibytes)],
      [
        'MiB resident before, with each crowd',
        `${baseline.residentMebibytes}, ${formatList(({ peak }) => peak.residentMebibytes)}`,
      ],
      ['MiB resident after each', formatList(({ current }) => current.residentMebibytes)],
      ['timers before, after each', `${baseline.timers}, ${formatList(({ current }) => current.timers)}`],
      ['slowest of 20 pages with a crowd, ms', Math.round(Math.max(...pages.map(({ ms }) => ms)))],
      ['until all but readers were disconnected, s', formatSeconds(({ closedSeconds }) => closedSeconds)],
      ["until clients that don't read were disconnected, s", formatSeconds(crowd => crowd.readersClosedSeconds)],
      ['until all resources were free, s', formatSeconds(({ freeSeconds }) => freeSeconds)],
    ],
    checks: [
      check(
        'other clients are served',
        pages.filter(({ status }) => status !== 200).map(({ status }) => `${status}`),
        pages.length,
      ),
      check(
        'handshakes and requests that never end are disconnected within 60 s',
        crowdResults.flatMap(({ stalled }) => (stalled ? [`${stalled}`] : [])),
      ),
      check(
        "a client that doesn't read costs less than 1 MiB",
        lastPeak - baseline.residentMebibytes > 200 + readers ? [`${lastPeak - baseline.residentMebibytes} MiB`] : [],
      ),
      check("the server disconnects clients that don't read within 120 s", listExcess('files', 5)),
      check('timers return to their level within 60 s', listExcess('timers', 5)),
      check('memory in use returns to its level within 60 s', listExcess('liveMebibytes', 30)),
      // The process keeps freed memory for the next crowd.
      check(
        'the last crowd needs no more memory than the previous ones',
        lastPeak > previousPeak * 1.1 ? [`${lastPeak - previousPeak} MiB more`] : [],
      ),
      check('no database session is busy', listExcess('busy', 0)),
      check('no customer was created', customers === 500 ? [] : [`${customers}`]),
    ],
  })
} finally {
  for (const socket of openSockets) socket.destroy()
  await installation.close()
}

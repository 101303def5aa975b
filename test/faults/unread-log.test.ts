import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { installWithAccess } from '../support/installations/installations.ts'
import {
  cli,
  createDirectory,
  type RunningServer,
  sendGet,
  serve,
  stopServer,
  waitUntil,
} from '../support/processes.ts'

const environment = {
  DATA_DIR: join(createDirectory(), 'data'),
  ACCESS_LOG: 'true',
  LOG_LEVEL: 'info',
  WEB_CONCURRENCY: '2',
}
const pipe = join(createDirectory(), 'log')
let reader: number
let server: RunningServer
let access: Awaited<ReturnType<typeof installWithAccess>>

before(async () => {
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0)
  reader = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
  const program = ['sh', '-c', `exec "${process.execPath}" "${cli}" "$@" 2>"${pipe}"`, 'sh'] as const
  access = await installWithAccess(environment)
  server = await serve(['--no-demo'], environment, { program })
})
after(async () => {
  await stopServer(server)
  closeSync(reader)
})

/** Does something until there is no more of it. */
function untilAgain(work: () => number) {
  try {
    while (work() > 0);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN')
  }
}

/** Returns the content of the pipe. */
function readAll(): string {
  const parts: Buffer[] = []
  untilAgain(() => {
    const part = Buffer.alloc(65_536)
    const length = readSync(reader, part)
    parts.push(part.subarray(0, length))
    return length
  })
  return Buffer.concat(parts).toString()
}

test('a stalled log reader delays no request and receives the lost-line count', async () => {
  const times = 50
  const measureRequests = async () => {
    const begun = performance.now()
    for (let i = 0; i < times; i++) assert.equal((await sendGet(server, '/stores', access)).status, 200)
    return performance.now() - begun
  }
  const read = await measureRequests()
  readAll()
  untilAgain(() => writeSync(reader, '\n'.repeat(1_024)))
  const unread = await measureRequests()
  // Waiting for room at each line would take 200 ms each.
  assert.ok(
    unread < 3 * read + (times * 200) / 2,
    `${times} requests took ${unread} ms, ${read} ms where the log is read`,
  )
  readAll()
  let log = ''
  const lost = () => [...log.matchAll(/"lost":(\d+),/g)].reduce((sum, [, count]) => sum + Number(count), 0)
  await waitUntil(
    async () => {
      await sendGet(server, '/stores', access)
      log += readAll()
      // The last line of each of the two may have come once there was room.
      return lost() >= times - 2
    },
    'the log says how many lines it lacks',
    30_000,
  )
})

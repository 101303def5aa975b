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

/** Calls `work` until it returns 0 or would block. */
function repeatUntilBlocked(work: () => number) {
  try {
    while (work() > 0);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN')
  }
}

/** Reads the content of the pipe. */
function readAll(): string {
  const parts: Buffer[] = []
  repeatUntilBlocked(() => {
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
    const startedAt = performance.now()
    for (let i = 0; i < times; i++) assert.equal((await sendGet(server, '/stores', access)).status, 200)
    return performance.now() - startedAt
  }
  const readMs = await measureRequests()
  readAll()
  repeatUntilBlocked(() => writeSync(reader, '\n'.repeat(1_024)))
  const unreadMs = await measureRequests()
  // If each line waited for free space, each request would take 200 ms.
  assert.ok(
    unreadMs < 3 * readMs + (times * 200) / 2,
    `${times} requests took ${unreadMs} ms, but ${readMs} ms with a reader`,
  )
  readAll()
  let log = ''
  const countLostLines = () => [...log.matchAll(/"lost":(\d+),/g)].reduce((sum, [, count]) => sum + Number(count), 0)
  await waitUntil(
    async () => {
      await sendGet(server, '/stores', access)
      log += readAll()
      // The last line of each of the two processes can be written after there was free space again.
      return countLostLines() >= times - 2
    },
    'the log reports the number of lost lines',
    30_000,
  )
})

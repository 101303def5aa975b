import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'
import { watchEventLoop } from '../support/event-loop.ts'

export interface ProcessResources {
  files: number
  /** Resident memory. */
  residentMebibytes: number
  /** MiB of V8's objects and buffers. The rest of the resident memory is code, and freed memory for later use. */
  liveMebibytes: number
  /** Active timers. */
  timers: number
  /** Milliseconds of CPU that the longest turn of the event loop used since the previous measurement. */
  longestTurnMs: number
}

/** Finds the process with this DATA_DIR. `measure` needs a process that was started with `--import` of this file. */
export async function findProcess(
  dataDirectory: string,
): Promise<{ pid: number; measure(): Promise<ProcessResources> }> {
  const pid = Number(
    readdirSync('/proc').find(
      name => /^\d+$/.test(name) && readEnvironment(name).includes(`DATA_DIR=${dataDirectory}\0`),
    ),
  )
  if (!pid) throw new Error(`no process has the DATA_DIR ${dataDirectory}`)
  const file = join(dataDirectory, resourcesFile)
  return {
    pid,
    async measure() {
      rmSync(file, { force: true })
      process.kill(pid, 'SIGUSR2')
      const { resources, memory, longestTurnMs } = await readReport(file)
      return {
        files: readdirSync(`/proc/${pid}/fd`).length,
        residentMebibytes: Math.round(
          Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
        ),
        liveMebibytes: Math.round((memory.heapUsed + memory.external) / 1024 ** 2),
        timers: resources.filter(resource => resource === 'Timeout').length,
        longestTurnMs: Math.round(longestTurnMs),
      }
    },
  }
}

function readEnvironment(pid: string) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8')
  } catch {
    // The process has ended, or belongs to another user.
    return ''
  }
}

interface Report {
  resources: string[]
  memory: NodeJS.MemoryUsage
  longestTurnMs: number
}

async function readReport(file: string): Promise<Report> {
  for (const startedAt = performance.now(); performance.now() - startedAt < 30_000; await delay(20))
    try {
      return JSON.parse(readFileSync(file, 'utf8'))
    } catch {
      // The file doesn't exist yet.
    }
  throw new Error('the process wrote no report within 30 s')
}

/** A process that was started with `--import` of this file writes a report to this file in its DATA_DIR on SIGUSR2. */
const resourcesFile = 'resources.json'

const { DATA_DIR: directory } = process.env
if (directory && isMainThread) {
  let loop = watchEventLoop()
  process.on('SIGUSR2', () => {
    const file = join(directory, resourcesFile)
    const report: Report = {
      resources: process.getActiveResourcesInfo(),
      memory: process.memoryUsage(),
      longestTurnMs: loop.stop(),
    }
    writeFileSync(`${file}.new`, JSON.stringify(report))
    renameSync(`${file}.new`, file)
    loop = watchEventLoop()
  })
}

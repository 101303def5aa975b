import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { activeFile } from './active.ts'

/** What a process has of the machine. */
export interface Held {
  files: number
  /** Resident. */
  mebibytes: number
  /** What V8 has objects and buffers in; the rest of the resident ones is code, and what was freed and is kept for next time. */
  live: number
  /** Those that keep it alive. */
  timers: number
}

/** The process that serves with this DATA_DIR, started with `active.ts`. */
export async function processOf(home: string): Promise<{ pid: number; held(): Promise<Held> }> {
  const pid = Number(
    readdirSync('/proc').find(name => /^\d+$/.test(name) && environmentOf(name).includes(`DATA_DIR=${home}\0`)),
  )
  if (!pid) throw new Error('the process has ended')
  const file = join(home, activeFile)
  return {
    pid,
    async held() {
      rmSync(file, { force: true })
      process.kill(pid, 'SIGUSR2')
      const { kinds, memory } = await told(file)
      return {
        files: readdirSync(`/proc/${pid}/fd`).length,
        mebibytes: Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024),
        live: Math.round((memory.heapUsed + memory.external) / 1024 ** 2),
        timers: kinds.filter(kind => kind === 'Timeout').length,
      }
    },
  }
}

function environmentOf(pid: string) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8')
  } catch {
    // It has ended, or is somebody else's.
    return ''
  }
}

async function told(file: string): Promise<{ kinds: string[]; memory: NodeJS.MemoryUsage }> {
  for (const begun = performance.now(); performance.now() - begun < 30_000; await delay(20))
    try {
      return JSON.parse(readFileSync(file, 'utf8'))
    } catch {
      // Not yet.
    }
  throw new Error('the process does not tell what is active')
}

import { writeSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'

/** A thread that kills the process if a stop step blocks the event loop, because the timers of the main thread don't fire then. */

let timer: NodeJS.Timeout | undefined
parentPort?.on('message', ({ steps, limitMs }: { steps: string[]; limitMs: number }) => {
  clearTimeout(timer)
  timer = setTimeout(() => {
    const entry = {
      level: 60,
      time: new Date().toISOString(),
      pid: process.pid,
      steps,
      msg: 'stop step hangs, killing',
    }
    try {
      writeSync(2, `${JSON.stringify(entry)}\n`)
    } finally {
      process.kill(process.pid, 'SIGKILL')
    }
  }, limitMs)
})

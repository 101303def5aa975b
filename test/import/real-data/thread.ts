import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { Accounts } from './accounts.ts'
import { type AuditResult, runAudit } from './audit.ts'
import { convertRealData, realData } from './convert.ts'
import { openShop } from './shop.ts'

/** The directory of the import files, and the conversion's result once the files are written. */
interface Work {
  folder: string
  accounts?: Accounts
}

// Node's test runner tracks every promise and stream of its thread, which takes a quarter of the CPU for this many lines.

export const convertInThread = (folder: string) => runInThread<Accounts>({ folder })
export const auditInThread = (folder: string, accounts: Accounts) => runInThread<AuditResult>({ folder, accounts })

const execArgv = [`--import=${new URL('../../../src/module-hooks.js', import.meta.url)}`]

async function runInThread<Result>(work: Work): Promise<Result> {
  const worker = new Worker(new URL(import.meta.url), { workerData: work, execArgv })
  const rejectOnExit = once(worker, 'exit').then(([code]) => {
    throw new Error(`The thread ended with ${code} without a result.`)
  })
  const [response] = await Promise.race([once(worker, 'message'), rejectOnExit])
  return response
}

async function runWork({ folder, accounts }: Work): Promise<Accounts | AuditResult> {
  if (!accounts) return convertRealData(realData, folder)
  const shop = await openShop()
  try {
    return await runAudit(shop, accounts, folder)
  } finally {
    await shop.close()
  }
}

if (!isMainThread) parentPort?.postMessage(await runWork(workerData))

import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { Accounts } from './accounts.ts'
import { type Audit, audit } from './audit.ts'
import { convertRealData, realData } from './convert.ts'
import { openShop } from './shop.ts'

/** The directory of the import files, and their content once they are written. */
interface Work {
  folder: string
  accounts?: Accounts
}

// Node's test runner follows every promise and every stream of its own thread: with lines by the hundred thousand that is a quarter of the CPU.

export const convertAside = (folder: string) => aside<Accounts>({ folder })
export const auditAside = (folder: string, accounts: Accounts) => aside<Audit>({ folder, accounts })

const execArgv = [`--import=${new URL('../../../src/module-hooks.js', import.meta.url)}`]

async function aside<Answer>(work: Work): Promise<Answer> {
  const worker = new Worker(new URL(import.meta.url), { workerData: work, execArgv })
  const ending = once(worker, 'exit').then(([code]) => {
    throw new Error(`The thread ended with ${code} and without an answer.`)
  })
  const [response] = await Promise.race([once(worker, 'message'), ending])
  return response
}

async function done({ folder, accounts }: Work): Promise<Accounts | Audit> {
  if (!accounts) return convertRealData(realData, folder)
  const shop = await openShop()
  try {
    return await audit(shop, accounts, folder)
  } finally {
    await shop.close()
  }
}

if (!isMainThread) parentPort?.postMessage(await done(workerData))

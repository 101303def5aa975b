import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Fault, FaultInput } from '../faults/fault.ts'
import type { Mail, Voucher } from '../shop/records.ts'
import type { Call, Effect, EffectKind } from '../world/ledger.ts'
import type { Settings } from '../world/settings.ts'
import type { Change } from './changes.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

/** Starts a simulator of the back office in a separate process. Resolves when it responds. */
export async function startSimulatorProcess(args: readonly string[] = []) {
  const child = spawn(process.execPath, [main, '--port', '0', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', chunk => {
      output += chunk
      const printedUrl = /BACK_OFFICE_URL=(\S+)/.exec(output)?.[1]
      if (printedUrl) resolve(printedUrl)
    })
    ended.then(([code]) => reject(new Error(`The simulator ended with code ${code}.`)))
  })
  const remote = connectSimulator(`${new URL(url).origin}/_simulator`)
  return {
    url,
    remote,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Controls a simulator in another process by its `controlUrl`. Throws if the simulator rejects a call. */
export function connectSimulator(controlUrl: string) {
  const sendCommand = async <T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T> => {
    const response = await fetch(`${controlUrl}/${path}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const result = (await response.json()) as T & { error?: string }
    if (!response.ok) throw new TypeError(result.error ?? `status ${response.status}`)
    return result
  }
  const readLedger = (search: string) =>
    sendCommand<{ totals: { calls: number; effects: number }; calls: Call[]; effects: Effect[] }>(
      'GET',
      `ledger?${search}`,
    )
  return {
    state: () => sendCommand<{ settings: Settings; counts: Record<string, number>; url: string }>('GET', 'state'),
    set: (settings: Partial<Settings>) => sendCommand<Settings>('POST', 'settings', settings),
    clock: (change: { set?: string; freeze?: string | true; advance?: number }) =>
      sendCommand<{ now: string }>('POST', 'clock', change),
    change: async (change: Change) => (await sendCommand<{ id: string }>('POST', 'changes', change)).id,
    addFault: (fault: FaultInput) => sendCommand<Fault>('POST', 'faults', fault),
    clearFaults: () => sendCommand<object>('DELETE', 'faults'),
    /** Returns the last calls and effects. */
    ledger: (limit = 1_000) => readLedger(`limit=${limit}`),
    listEffects: async (kind: EffectKind) =>
      (await readLedger(`limit=100000&effect=${encodeURIComponent(kind)}`)).effects,
    clearLedger: () => sendCommand<object>('DELETE', 'ledger'),
    vouchers: () => sendCommand<Voucher[]>('GET', 'vouchers?limit=100000'),
    mail: () => sendCommand<Mail[]>('GET', 'mail?limit=100000'),
    reset: (seed?: string) => sendCommand<object>('POST', 'reset', seed === undefined ? {} : { seed }),
    /** Closes the port for a number of seconds. */
    down: (seconds: number) => sendCommand<object>('POST', 'down', { seconds }),
  }
}

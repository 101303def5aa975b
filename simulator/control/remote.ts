import type { Fault, FaultInput } from '../faults/fault.ts'
import type { Mail, Voucher } from '../shop/records.ts'
import type { Call, Effect, EffectKind } from '../world/ledger.ts'
import type { Settings } from '../world/settings.ts'
import type { Change } from './changes.ts'

/** Controls a simulator in another process by its `controlUrl`. Throws if the simulator rejects a call. */
export function connectSimulator(controlUrl: string) {
  const tell = async <T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T> => {
    const response = await fetch(`${controlUrl}/${path}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const read = (await response.json()) as T & { error?: string }
    if (!response.ok) throw new TypeError(read.error ?? `status ${response.status}`)
    return read
  }
  const ledger = (search: string) =>
    tell<{ totals: { calls: number; effects: number }; calls: Call[]; effects: Effect[] }>('GET', `ledger?${search}`)
  return {
    state: () => tell<{ settings: Settings; counts: Record<string, number>; url: string }>('GET', 'state'),
    set: (settings: Partial<Settings>) => tell<Settings>('POST', 'settings', settings),
    clock: (change: { set?: string; freeze?: string | true; advance?: number }) =>
      tell<{ now: string }>('POST', 'clock', change),
    change: async (change: Change) => (await tell<{ id: string }>('POST', 'changes', change)).id,
    addFault: (fault: FaultInput) => tell<Fault>('POST', 'faults', fault),
    clearFaults: () => tell<object>('DELETE', 'faults'),
    /** The last calls and effects. */
    ledger: (limit = 1_000) => ledger(`limit=${limit}`),
    effectsOf: async (kind: EffectKind) => (await ledger(`limit=100000&effect=${encodeURIComponent(kind)}`)).effects,
    clearLedger: () => tell<object>('DELETE', 'ledger'),
    vouchers: () => tell<Voucher[]>('GET', 'vouchers?limit=100000'),
    mail: () => tell<Mail[]>('GET', 'mail?limit=100000'),
    reset: (seed?: string) => tell<object>('POST', 'reset', seed === undefined ? {} : { seed }),
    /** Closes the port for a number of seconds. */
    down: (seconds: number) => tell<object>('POST', 'down', { seconds }),
  }
}

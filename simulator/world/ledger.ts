export type EffectKind =
  | 'person created'
  | 'person updated'
  | 'person removed'
  | 'person restored'
  | 'order created'
  | 'order changed'
  | 'return created'
  | 'return deleted'
  | 'return received'
  | 'return changed'
  | 'transaction created'
  | 'stock changed'
  | 'product changed'
  | 'store changed'
  | 'reference changed'
  | 'voucher validated'
  | 'voucher locked'
  | 'voucher unlocked'
  | 'voucher drawn'
  | 'voucher sold'
  | 'voucher allotted'
  | 'voucher changed'
  | 'reward account created'
  | 'reward account updated'
  | 'rewards changed'
  | 'rewards reserved'
  | 'rewards redeemed'
  | 'rewards released'
  | 'coupon reserved'
  | 'coupon released'
  | 'coupon redeemed'

/** A change of the shop. */
export interface Effect {
  kind: EffectKind
  at: string
  /** The `seq` of the call that caused it, or null for changes by staff and the clock. */
  request: number | null
  /** The record's ID or number. */
  id: string
  facts: Readonly<Record<string, unknown>>
}

/** A received request and its result. */
export interface Call {
  seq: number
  /** The time by the machine's clock. */
  at: string
  method: string
  /** The path with its query. PINs and passwords are masked. */
  path: string
  accept: string
  /** Null if no response has been sent. */
  status: number | null
  /** The code of the AP21Error. */
  errorCode: number | null
  outcome: 'open' | 'answered' | 'cut' | 'unanswered'
  faults: string[]
  effects: EffectKind[]
  milliseconds: number | null
  bytes: number
}

export interface CallFilter {
  method?: string
  /** A path below the base, without query. `*` matches any characters. */
  path?: string
  status?: number
}

export interface Ledger {
  readonly calls: readonly Call[]
  readonly effects: readonly Effect[]
  findCalls(filter: CallFilter): Call[]
  findEffects(kind: EffectKind, id?: string | number): Effect[]
  openCall(method: string, path: string, accept: string): Call
  recordEffect(kind: EffectKind, id: string | number, at: number, facts: Record<string, unknown>, call?: Call): void
  clear(): void
}

/** Maximum entries of a list. Older ones are deleted, so that a simulator can run for weeks. */
const maxEntries = 100_000

/** Masks PINs and passwords in the query of a path. */
const maskSecrets = (path: string) => path.replace(/([?&](?:pin|password)=)[^&]*/gi, '$1***')

/** True if a path without its query matches a pattern. */
export function matchesPath(path: string, pattern: string): boolean {
  const [text = ''] = path.split('?')
  const parts = pattern.split('*').map(part => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}/?$`, 'i').test(text)
}

export function makeLedger(): Ledger {
  let seq = 0
  let calls: Call[] = []
  let effects: Effect[] = []
  const limitEntries = <T>(list: T[]) => (list.length > maxEntries * 1.1 ? list.slice(-maxEntries) : list)
  return {
    get calls() {
      return calls
    },
    get effects() {
      return effects
    },
    findCalls: ({ method, path, status }) =>
      calls.filter(
        call =>
          (method === undefined || call.method === method.toUpperCase()) &&
          (path === undefined || matchesPath(call.path, path)) &&
          (status === undefined || call.status === status),
      ),
    findEffects: (kind, id) =>
      effects.filter(effect => effect.kind === kind && (id === undefined || effect.id === String(id))),
    openCall(method, path, accept) {
      const call: Call = {
        seq: ++seq,
        at: new Date().toISOString(),
        method,
        path: maskSecrets(path),
        accept,
        status: null,
        errorCode: null,
        outcome: 'open',
        faults: [],
        effects: [],
        milliseconds: null,
        bytes: 0,
      }
      calls.push(call)
      calls = limitEntries(calls)
      return call
    },
    recordEffect(kind, id, at, facts, call) {
      call?.effects.push(kind)
      effects.push({ kind, at: new Date(at).toISOString(), request: call?.seq ?? null, id: String(id), facts })
      effects = limitEntries(effects)
    },
    clear() {
      calls = []
      effects = []
    },
  }
}

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

/** Something that changed the shop. */
export interface Effect {
  kind: EffectKind
  at: string
  /** The request that caused it, or null for the back office and the clock. */
  request: number | null
  /** The record's ID or number. */
  id: string
  facts: Readonly<Record<string, unknown>>
}

/** A received request and its result. */
export interface Call {
  seq: number
  /** By the machine's clock. */
  at: string
  method: string
  /** With its query, in which PINs and passwords are masked. */
  path: string
  accept: string
  /** Null until a response is sent, and if none is sent. */
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
  /** A path below the base, without query; `*` stands for anything. */
  path?: string
  status?: number
}

export interface Ledger {
  readonly calls: readonly Call[]
  readonly effects: readonly Effect[]
  callsTo(filter: CallFilter): Call[]
  effectsOf(kind: EffectKind, id?: string | number): Effect[]
  open(method: string, path: string, accept: string): Call
  note(kind: EffectKind, id: string | number, at: number, facts: Record<string, unknown>, call?: Call): void
  clear(): void
}

/** Maximum entries of a list. Older ones are deleted, so that a simulator can run for weeks. */
const maxEntries = 100_000

/** `pin=1234` must not be logged. */
const masked = (path: string) => path.replace(/([?&](?:pin|password)=)[^&]*/gi, '$1***')

/** True if a path without its query matches a pattern. */
export function pathMatches(path: string, pattern: string): boolean {
  const [text = ''] = path.split('?')
  const parts = pattern.split('*').map(part => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}/?$`, 'i').test(text)
}

export function makeLedger(): Ledger {
  let seq = 0
  let calls: Call[] = []
  let effects: Effect[] = []
  const limited = <T>(list: T[]) => (list.length > maxEntries * 1.1 ? list.slice(-maxEntries) : list)
  return {
    get calls() {
      return calls
    },
    get effects() {
      return effects
    },
    callsTo: ({ method, path, status }) =>
      calls.filter(
        call =>
          (method === undefined || call.method === method.toUpperCase()) &&
          (path === undefined || pathMatches(call.path, path)) &&
          (status === undefined || call.status === status),
      ),
    effectsOf: (kind, id) =>
      effects.filter(effect => effect.kind === kind && (id === undefined || effect.id === String(id))),
    open(method, path, accept) {
      const call: Call = {
        seq: ++seq,
        at: new Date().toISOString(),
        method,
        path: masked(path),
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
      calls = limited(calls)
      return call
    },
    note(kind, id, at, facts, call) {
      call?.effects.push(kind)
      effects.push({ kind, at: new Date(at).toISOString(), request: call?.seq ?? null, id: String(id), facts })
      effects = limited(effects)
    },
    clear() {
      calls = []
      effects = []
    },
  }
}

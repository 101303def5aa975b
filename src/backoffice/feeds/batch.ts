import type { Database } from '../../db.ts'
import type { Service } from '../../settings.ts'
import type { Upserted } from '../../store/lists/change.ts'
import { persistently } from '../../store/running/contention.ts'
import type { Fault } from './fault.ts'
import type { Kind } from './kinds.ts'
import { isFault } from './known.ts'
import type { Line } from './lines.ts'
import { refusalOf } from './refusals.ts'
import type { Row } from './rows.ts'

/** A line on its way: its row, or what is wrong with it. */
export interface Item {
  line: Line
  row?: Row
  faults?: Fault[]
}

export interface Outcome extends Upserted {
  notes: Readonly<Record<string, number>>
}

interface Target {
  db: Database
  service: Service
  kind: Kind
  /** Everything but the writing. */
  dryRun: boolean
}

/** Puts the good lines of a batch in; the others get their `faults`. */
export async function putBatch(items: readonly Item[], target: Target): Promise<Outcome> {
  const good = items.filter(item => item.row)
  if (!good.length) return { inserted: 0, changed: 0, notes: {} }
  const rows = good.map(item => item.row ?? {})
  const { inputs, notes = {} } = await target.kind.prepare(target.db, target.service, rows)
  const pairs: Pair[] = []
  good.forEach((item, i) => {
    const input = inputs[i] ?? {}
    if (isFault(input)) item.faults = [input.fault]
    else pairs.push({ item, input })
  })
  const put = target.dryRun ? { inserted: 0, changed: 0 } : await putPairs(pairs, target)
  return { ...put, notes }
}

interface Pair {
  item: Item
  input: object
}

/** Writes what the store takes. If the database refuses it, in halves, until those it refuses are alone. */
async function putPairs(pairs: readonly Pair[], target: Target): Promise<Upserted> {
  if (!pairs.length) return { inserted: 0, changed: 0 }
  try {
    return await persistently(() =>
      target.kind.write(
        target.db,
        target.service,
        pairs.map(pair => pair.input),
      ),
    )
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) throw error
    const [only] = pairs
    if (only && pairs.length === 1) {
      only.item.faults = [refusal(only.item.row ?? {})]
      return { inserted: 0, changed: 0 }
    }
    const half = pairs.length >> 1
    const first = await putPairs(pairs.slice(0, half), target)
    const second = await putPairs(pairs.slice(half), target)
    return { inserted: first.inserted + second.inserted, changed: first.changed + second.changed }
  }
}

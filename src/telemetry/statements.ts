import { around } from './current-context.ts'
import { databaseDurations } from './durations.ts'
import { type Attributes, beginPart, endSpan, faultOf } from './spans.ts'
import { addStatement } from './timeline.ts'

interface Told {
  operation: string
  /** The operation and the first table: `select customer`. */
  summary: string
  attributes: Attributes
}

const told = new Map<string, Told>()
/** Filters and limits make texts of their own: more than there are of this many is forgotten, and told anew. */
const mostTold = 2_000

/** What is told of a statement: its text is long, and its values are nobody's business. */
function toldOf(text: string): Told {
  const known = told.get(text)
  if (known) return known
  const plain = text
    .replace(/'[^']*'/g, '')
    .trim()
    .toLowerCase()
  const operation = /^\w+/.exec(plain)?.[0] ?? 'unknown'
  const [, table = ''] = /\b(?:from|into|update|join)\s+(?:only\s+)?([a-z_][\w.]*)/.exec(plain) ?? []
  const summary = `${operation} ${table}`.trim()
  const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': operation, 'db.query.summary': summary }
  const one = { operation, summary, attributes }
  if (told.size >= mostTold) told.clear()
  told.set(text, one)
  return one
}

/** Has a statement measured, and be part of the trace that it is asked in. */
export async function observed<T>(text: string, ask: () => Promise<T>): Promise<T> {
  const { operation, summary, attributes } = toldOf(text)
  const { timeline, place } = around()
  const began = performance.now()
  const span = beginPart(place, summary, 'client', attributes, began)
  let fault: string | undefined
  try {
    return await ask()
  } catch (error) {
    fault = faultOf(error)
    throw error
  } finally {
    const ended = performance.now()
    addStatement(timeline, ended - began)
    databaseDurations.observe(`${operation} ${fault}`, (ended - began) / 1_000, () => ({
      db_system_name: 'postgresql',
      db_operation_name: operation,
      ...(fault !== undefined && { error_type: fault }),
    }))
    endSpan(span, fault, ended)
  }
}

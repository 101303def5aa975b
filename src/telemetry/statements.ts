import { ttlMap } from '../concurrency/ttl-cache.ts'
import { getCurrentContext } from './current-context.ts'
import { databaseDurations } from './durations.ts'
import { type Attributes, endSpan, getErrorCode, setAttributes, startChildSpan } from './spans.ts'
import { addStatement } from './timeline.ts'

interface StatementSummary {
  operation: string
  /** The operation and the first table: `select customer`. */
  summary: string
  attributes: Attributes
}

/** Filters and limits create many different texts. */
const summaries = ttlMap<StatementSummary>({ maxEntries: 2_000 })

/** Returns the summary of a statement for traces and metrics: no values, and not the whole text. */
function summarize(text: string): StatementSummary {
  const cached = summaries.get(text)
  if (cached) return cached
  const lowercase = text
    .replace(/'[^']*'/g, '')
    .trim()
    .toLowerCase()
  const operation = /^\w+/.exec(lowercase)?.[0] ?? 'unknown'
  const [, table = ''] = /\b(?:from|into|update|join)\s+(?:only\s+)?([a-z_][\w.]*)/.exec(lowercase) ?? []
  const summary = `${operation} ${table}`.trim()
  const attributes = {
    'db.system.name': 'postgresql',
    'db.operation.name': operation,
    'db.collection.name': table || undefined,
    'db.query.summary': summary,
  }
  const entry = { operation, summary, attributes }
  summaries.set(text, entry)
  return entry
}

/**
 * Executes a statement, measures its duration and records it as a span of the current trace. `getServer` returns the attributes of the
 * database and its server, if the span is recorded.
 */
export async function observeStatement<T>(
  text: string,
  getServer: () => Attributes,
  execute: () => Promise<T>,
): Promise<T> {
  const { operation, summary, attributes } = summarize(text)
  const { timeline, spanContext } = getCurrentContext()
  const began = performance.now()
  const span = startChildSpan(spanContext, summary, 'client', attributes, began)
  if (span) setAttributes(span, getServer())
  let errorType: string | undefined
  try {
    return await execute()
  } catch (error) {
    errorType = getErrorCode(error)
    throw error
  } finally {
    const ended = performance.now()
    addStatement(timeline, ended - began)
    databaseDurations.observe(`${operation} ${errorType}`, (ended - began) / 1_000, () => ({
      db_system_name: 'postgresql',
      db_operation_name: operation,
      ...(errorType !== undefined && { error_type: errorType }),
    }))
    endSpan(span, errorType, ended)
  }
}

import { createHash } from 'node:crypto'

/** SQL text and its parameters. Created by the `sql` tag and by `raw` only. */
export class Sql {
  readonly strings: readonly string[]
  readonly params: readonly unknown[]
  constructor(strings: readonly string[], params: readonly unknown[]) {
    this.strings = strings
    this.params = params
  }
}

/** SQL in a template: each `${value}` becomes a bound parameter, each `${sql`…`}` is inserted as SQL. */
export const sql = (strings: TemplateStringsArray, ...params: unknown[]) => new Sql(strings, params)

/** Returns text as SQL. The text must come from this code base, never from outside. */
export const raw = (text: string) => new Sql([text], [])

/** Returns the text of a query with placeholders `$1`, `$2` …, and appends its parameters to `values`. */
export function render(query: Sql, values: unknown[]): string {
  let text = query.strings[0] ?? ''
  query.params.forEach((param, i) => {
    text += param instanceof Sql ? render(param, values) : `$${values.push(param)}`
    text += query.strings[i + 1]
  })
  return text
}

const statementNames = new Map<string, string>()
/** Tillbridge has a few hundred statements. Each connection keeps those that it has prepared. */
const maxStatementNames = 1_000
/**
 * Returns the name under which PostgreSQL prepares a statement once per connection: the digest of its text. Returns undefined if there are
 * too many statements to keep them all prepared.
 */
export function getStatementName(text: string) {
  const existing = statementNames.get(text)
  if (existing !== undefined || statementNames.size >= maxStatementNames) return existing
  const name = createHash('sha1').update(text).digest('hex')
  statementNames.set(text, name)
  return name
}

import { createHash } from 'node:crypto'

/** SQL text with its values apart; made by the `sql` tag only. */
export class Sql {
  readonly strings: readonly string[]
  readonly params: readonly unknown[]
  constructor(strings: readonly string[], params: readonly unknown[]) {
    this.strings = strings
    this.params = params
  }
}

/** SQL as it is written; each `${value}` becomes a bound parameter, each `${sql`…`}` is put in its place. */
export const sql = (strings: TemplateStringsArray, ...params: unknown[]) => new Sql(strings, params)

/** Text from this code base, never from outside, as SQL. */
export const raw = (text: string) => new Sql([text], [])

/** Its text, with `$1` and on for what is added to `values`. */
export function written(query: Sql, values: unknown[]): string {
  let text = query.strings[0] ?? ''
  query.params.forEach((param, i) => {
    text += param instanceof Sql ? written(param, values) : `$${values.push(param)}`
    text += query.strings[i + 1]
  })
  return text
}

const names = new Map<string, string>()
/** There are some hundred texts; each connection keeps what it has prepared until it ends. */
const mostNames = 1_000
/**
 * A statement's name is its text's digest, so that PostgreSQL prepares each text once a connection, and soon plans it no more. Undefined
 * where there are so many texts that PostgreSQL, and this process, cannot keep them all.
 */
export function nameOf(text: string) {
  const known = names.get(text)
  if (known !== undefined || names.size >= mostNames) return known
  const name = createHash('sha1').update(text).digest('hex')
  names.set(text, name)
  return name
}

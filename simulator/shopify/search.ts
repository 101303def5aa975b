/** One term of a search: `updated_at:>='2026-11-01T00:00:00Z'`. */
interface Term {
  field: string
  operator: '=' | '>' | '>=' | '<' | '<='
  value: string
  isQuoted: boolean
}

export interface SearchResult<T> {
  records: T[]
  /** The warning in `extensions.search` if a filter is unknown. */
  warning?: { field: string; message: string; code: string }
}

/** The values of a record that a search can compare, by filter. Instants are milliseconds since 1970. */
export type SearchValues = Readonly<Record<string, string | number | null>>

const term = /([a-z_]+):(>=|<=|>|<|=)?(?:'([^']*)'|"([^"]*)"|(\S+))/g

function parseTerms(query: string): { terms: Term[]; words: string[] } {
  const terms: Term[] = []
  const remaining = query.replace(
    term,
    (_, field: string, operator = '=', single?: string, double?: string, bare?: string) => {
      terms.push({
        field,
        operator: operator as Term['operator'],
        value: single ?? double ?? bare ?? '',
        isQuoted: bare === undefined,
      })
      return ' '
    },
  )
  return { terms, words: remaining.split(/\s+/).filter(word => word && word !== 'AND') }
}

/** Parses an instant. Without quotes it is cut to midnight, as on the platform. */
function parseInstant({ value, isQuoted }: Term): number {
  return Date.parse(isQuoted ? value : value.slice(0, 10))
}

function matches({ operator }: Term, own: number | string, other: number | string): boolean {
  if (operator === '>') return own > other
  if (operator === '>=') return own >= other
  if (operator === '<') return own < other
  if (operator === '<=') return own <= other
  return own === other
}

/**
 * Searches records as the platform does: it fails open. An unknown filter is ignored with a warning, and the search splits at spaces, so that
 * each remaining word can match unrelated records.
 */
export function search<T>(
  records: readonly T[],
  query: string | null | undefined,
  getSearchValues: (record: T) => SearchValues,
) {
  const result: SearchResult<T> = { records: [...records] }
  if (!query) return result
  const { terms, words } = parseTerms(query)
  for (const part of terms) {
    const sample = records[0] && getSearchValues(records[0])
    if (sample && !Object.hasOwn(sample, part.field)) {
      result.warning = { field: part.field, message: 'Invalid search field for this query.', code: 'invalid_field' }
      continue
    }
    result.records = result.records.filter(record => {
      const value = getSearchValues(record)[part.field]
      if (value === null || value === undefined) return false
      if (part.field.endsWith('_at')) return matches(part, value, parseInstant(part))
      if (part.field === 'id') return matches(part, Number(value), Number(part.value.replace(/^gid:.*\//, '')))
      return String(value).toLowerCase() === part.value.toLowerCase()
    })
  }
  if (words.length)
    result.records = result.records.filter(record =>
      Object.values(getSearchValues(record)).some(value =>
        words.some(word =>
          String(value ?? '')
            .toLowerCase()
            .includes(word.toLowerCase()),
        ),
      ),
    )
  return result
}

/**
 * Bounded maps and caches whose entries expire.
 * Guarantees: at most `maxEntries` entries, the least recently used one is evicted first; concurrent loads of a key share one promise.
 */

interface TtlMapOptions {
  /** Milliseconds until an entry expires. Default: it never expires. */
  ttlMs?: number
  /** Maximum number of entries. One more evicts the least recently used entry. Default 10,000. */
  maxEntries?: number
}

interface TtlCacheOptions<V> extends TtlMapOptions {
  /** Loads the value of a key. A failed load is not cached. */
  load: (key: string) => Promise<V>
}

/** Creates a map whose entries expire. */
export function ttlMap<V>({ ttlMs = Number.POSITIVE_INFINITY, maxEntries = 10_000 }: TtlMapOptions) {
  const entries = new Map<string, { value: V; storedAt: number }>()
  return {
    /** Returns the value if it was stored at `notBefore` (`performance.now()`) or later. */
    get(key: string, notBefore = performance.now() - ttlMs): V | undefined {
      const entry = entries.get(key)
      if (!entry || entry.storedAt < notBefore) return
      // A map iterates in the order of insertion, so the least recently used entry comes first.
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set(key: string, value: V) {
      entries.delete(key)
      entries.set(key, { value, storedAt: performance.now() })
      const [oldest] = entries.keys()
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
    },
    delete: (key: string) => entries.delete(key),
  }
}

/** Creates a cache that loads each value at most once per key and `ttlMs`. */
export function ttlCache<V>({ load, ...options }: TtlCacheOptions<V>) {
  const values = ttlMap<Promise<V>>(options)
  return {
    /** Returns a value whose load began at `notBefore` (`performance.now()`) or later; without it, within `ttlMs`. */
    get(key: string, notBefore?: number): Promise<V> {
      const cached = values.get(key, notBefore)
      if (cached) return cached
      const value = load(key)
      values.set(key, value)
      // A newer load may have replaced this one.
      value.catch(() => values.get(key, Number.NEGATIVE_INFINITY) === value && values.delete(key))
      return value
    },
    delete: values.delete,
  }
}

/** Caches the result of `load` for `ttlMs`. A failed load is not cached. */
export function memoize<T>(load: () => Promise<T>, ttlMs = Number.POSITIVE_INFINITY): () => Promise<T> {
  const cache = ttlCache({ ttlMs, maxEntries: 1, load })
  return () => cache.get('')
}

/** Creates a value once per object, such as a database. The value is released with the object. */
export function perObject<K extends object, V>(create: (owner: K) => V): (owner: K) => V {
  const values = new WeakMap<K, V>()
  return owner => {
    const value = values.get(owner) ?? create(owner)
    values.set(owner, value)
    return value
  }
}

/** Something that is asked for when it is needed, and again when it is older than `ms`. What fails is not remembered. */
export function remembered<T>(load: () => Promise<T>, ms = Number.POSITIVE_INFINITY): () => Promise<T> {
  let known: { value: Promise<T>; at: number } | undefined
  return () => {
    if (known && performance.now() - known.at < ms) return known.value
    const own = { value: load(), at: performance.now() }
    known = own
    own.value.catch(() => {
      if (known === own) known = undefined
    })
    return own.value
  }
}

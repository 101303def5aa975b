/** Something that is asked for when it is needed, and again when it is older than that. What fails is not remembered. */
export function remembered<T>(ms: number, load: () => Promise<T>) {
  let known: { value: Promise<T>; at: number } | undefined
  return {
    get(): Promise<T> {
      if (known && performance.now() - known.at < ms) return known.value
      const value = load()
      const own = { value, at: performance.now() }
      known = own
      value.catch(() => {
        if (known === own) known = undefined
      })
      return value
    },
    forget() {
      known = undefined
    },
  }
}

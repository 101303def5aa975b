/** Changes in a delivery, and bytes (contract 11). */
export const maxChanges = 100
const mostBytes = 20_000

/** A delivery that is put together. */
interface Body {
  text: string
  /** How many of the changes are in it: all, or those that it has room for. */
  count: number
}

interface Telling {
  service: string
  /** When it is put together. RFC 3339. */
  timestamp: string
  /** Changes as JSON texts. At least one. */
  changes: readonly string[]
  /** Returns the cursor after the first `count` changes. */
  cursorAfter: (count: number) => string
}

/** A delivery of changes, of the first of them where not all have room. */
export function buildBody({ service, timestamp, changes, cursorAfter }: Telling): Body {
  const textOf = (count: number) => {
    const data = { service, cursor: cursorAfter(count) }
    const told = `${JSON.stringify(data).slice(0, -1)},"changes":[${changes.slice(0, count).join(',')}]}`
    return `{"type":"records.changed","timestamp":${JSON.stringify(timestamp)},"data":${told}}`
  }
  for (let count = changes.length; ; count--) {
    const text = textOf(count)
    if (count === 1 || Buffer.byteLength(text) <= mostBytes) return { text, count }
  }
}

/** The body of a test event. */
export const buildTestBody = (service: string, timestamp: string) =>
  JSON.stringify({ type: 'webhook.test', timestamp, data: { service } })

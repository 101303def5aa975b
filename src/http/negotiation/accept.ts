import { ApiError } from '../../errors/api-error.ts'

/** Media ranges that select a medium, most specific first. */
const mediaRanges = {
  json: ['application/json', 'application/*', '*/*'],
  // Only by its full name: a client that accepts anything must not get an endless list.
  lines: ['application/x-ndjson'],
  events: ['text/event-stream', 'text/*', '*/*'],
}
/** The medium of a response. `lines` is NDJSON. */
type Medium = keyof typeof mediaRanges

/** The media that an operation supports, default first. */
export type Media = readonly [Medium, ...Medium[]]

/** Returns the medium that a client prefers, the first of several. Throws `not_acceptable` if the client accepts none. */
export function chooseMedium(accept: string | undefined, media: Media): Medium {
  if (accept === undefined) return media[0]
  const weights = media.map(medium => getWeight(mediaRanges[medium], accept))
  const highest = Math.max(...weights)
  const preferred = media[weights.indexOf(highest)]
  if (preferred === undefined || highest === 0) throw new ApiError('not_acceptable')
  return preferred
}

/** True if a client names HTML, as browsers do. A client that accepts anything does not. */
export const acceptsHtml = (accept = '') => getWeight(['text/html'], accept) > 0

/** True if a client names Markdown, and prefers it to HTML. */
export const acceptsMarkdown = (accept = '') =>
  getWeight(['text/markdown'], accept) > Math.max(0, getWeight(['text/html'], accept))

/** Returns the weight (`q`) of the first of these ranges in an Accept header (RFC 9110, section 12.5). Returns 0 if it has none of them. */
export function getWeight(ranges: readonly string[], accept: string): number {
  const weights = new Map<string, number>()
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    const weight = parameters.find(parameter => parameter.startsWith('q='))?.slice(2) ?? '1'
    weights.set(type, Number(weight) || 0)
  }
  const deciding = ranges.find(range => weights.has(range))
  return deciding === undefined ? 0 : (weights.get(deciding) ?? 0)
}

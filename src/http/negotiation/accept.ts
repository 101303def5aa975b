import { ApiError } from '../../errors/api-error.ts'

const ours = {
  json: ['application/json', 'application/*', '*/*'],
  // By its name alone: a list without an end is for who asks for it.
  lines: ['application/x-ndjson'],
  events: ['text/event-stream', 'text/*', '*/*'],
}
/** What an operation answers with; `lines` are NDJSON. */
type Medium = keyof typeof ours

/** What an operation can answer with, the usual one first. */
export type Media = readonly [Medium, ...Medium[]]

/** What a caller wants most of it; where that is several, the first of them. Refuses a caller that takes none. */
export function mediumFor(accept: string | undefined, media: Media): Medium {
  if (accept === undefined) return media[0]
  const weights = media.map(medium => weightOf(ours[medium], accept))
  const most = Math.max(...weights)
  const wanted = media[weights.indexOf(most)]
  if (wanted === undefined || most === 0) throw new ApiError('not_acceptable')
  return wanted
}

/** Whether a caller names HTML, as browsers do: to take anything is not to read it. */
export const asksForHtml = (accept = '') => weightOf(['text/html'], accept) > 0

/** How much the caller wants what these ranges cover, the most specific first (RFC 9110, section 12.5); 0 where it names none of them. */
export function weightOf(ranges: readonly string[], accept: string): number {
  const weights = new Map<string, number>()
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    const weight = parameters.find(parameter => parameter.startsWith('q='))?.slice(2) ?? '1'
    weights.set(type, Number(weight) || 0)
  }
  const deciding = ranges.find(range => weights.has(range))
  return deciding === undefined ? 0 : (weights.get(deciding) ?? 0)
}

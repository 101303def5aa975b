import { ApiError } from '../errors.ts'

const ours = {
  json: ['application/json', 'application/*', '*/*'],
  events: ['text/event-stream', 'text/*', '*/*'],
}
/** What an operation answers with. */
export type Medium = keyof typeof ours

/** Refuses a caller that does not take what an operation answers with. */
export function requireAccepted(accept: string | undefined, medium: Medium) {
  if (accept !== undefined && !(weightOf(ours[medium], accept) > 0)) throw new ApiError('not_acceptable')
}

/** Whether a caller names HTML, as browsers do: to take anything is not to read it. */
export const asksForHtml = (accept = '') => weightOf(['text/html'], accept) > 0

/** How much the caller wants what these ranges cover, the most specific first (RFC 9110, section 12.5.1); 0 where it names none of them. */
function weightOf(ranges: readonly string[], accept: string): number {
  const weights = new Map<string, number>()
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    const weight = parameters.find(parameter => parameter.startsWith('q='))?.slice(2) ?? '1'
    weights.set(type, Number(weight))
  }
  const deciding = ranges.find(range => weights.has(range))
  return deciding === undefined ? 0 : (weights.get(deciding) ?? 0)
}

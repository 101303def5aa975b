import { ApiError } from '../errors.ts'

const ours = ['application/json', 'application/*', '*/*']

/** Refuses a caller that takes no JSON (RFC 9110, section 12.5.1): its `Accept` names no range that covers it, or weighs it 0. */
export function requireJson(accept: string | undefined) {
  if (accept === undefined) return
  const weights = new Map<string, number>()
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    const weight = parameters.find(parameter => parameter.startsWith('q='))?.slice(2) ?? '1'
    weights.set(type, Number(weight))
  }
  // The most specific range that is there decides.
  const deciding = ours.find(range => weights.has(range))
  if (deciding === undefined || !((weights.get(deciding) ?? 0) > 0)) throw new ApiError('not_acceptable')
}

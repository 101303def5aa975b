import { randomBytes } from 'node:crypto'

/** Where in a trace something is (W3C Trace Context, level 1). */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  traceId: string
  /** 16 hexadecimal digits. */
  spanId: string
  isSampled: boolean
}

const traceparentPattern = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:$|-)/

/** The place that a `traceparent` names; undefined where it is not well-formed. A version from the future is read as version 00. */
export function parseTraceparent(traceparent: unknown): SpanContext | undefined {
  if (typeof traceparent !== 'string' || traceparent.length > 512) return
  const [, traceId, spanId, flags = '0'] = traceparentPattern.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined) return
  if (traceparent.startsWith('00') && traceparent.length !== 55) return
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

export const formatTraceparent = ({ traceId, spanId, isSampled }: SpanContext) =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`

let digits = ''
let next = 0

/** Random hexadecimal digits; taken from a stock, for asking for each costs a microsecond. */
function randomHex(length: number): string {
  if (next + length > digits.length) {
    digits = randomBytes(4_096).toString('hex')
    next = 0
  }
  next += length
  const hexDigits = digits.slice(next - length, next)
  return /[^0]/.test(hexDigits) ? hexDigits : randomHex(length)
}

export const newTraceId = () => randomHex(32)
export const newSpanId = () => randomHex(16)

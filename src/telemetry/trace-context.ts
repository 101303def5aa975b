import { randomBytes } from 'node:crypto'

/** A position in a trace (W3C Trace Context, level 1). */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  traceId: string
  /** 16 hexadecimal digits. */
  spanId: string
  isSampled: boolean
}

const traceparentPattern = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:$|-)/

/** Parses a `traceparent` header. Returns undefined if it is malformed. A later version is parsed as version 00. */
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

/** Returns random hexadecimal digits from a buffer, because each call of `randomBytes` costs a microsecond. */
function createRandomHex(length: number): string {
  if (next + length > digits.length) {
    digits = randomBytes(4_096).toString('hex')
    next = 0
  }
  next += length
  const hexDigits = digits.slice(next - length, next)
  return /[^0]/.test(hexDigits) ? hexDigits : createRandomHex(length)
}

export const createTraceId = () => createRandomHex(32)
export const createSpanId = () => createRandomHex(16)

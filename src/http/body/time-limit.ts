import { constants, type Http2ServerRequest } from 'node:http2'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors/api-error.ts'

const { NGHTTP2_NO_ERROR, NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE: completelyReceived } = constants

/** Fails the body of an HTTP/2 request with `request_timeout` if it takes longer than `ms`. Node's own limits are for HTTP/1.1 only. */
export function limitBodyTime({ raw }: FastifyRequest, ms: number) {
  if (!('stream' in raw)) return
  const { stream } = raw as unknown as Http2ServerRequest
  if (stream.endAfterHeaders) return
  const timer = setTimeout(() => {
    if (stream.destroyed || stream.state.state === completelyReceived) return
    const closeStream = () => stream.close(NGHTTP2_NO_ERROR)
    if (stream.writableFinished) return closeStream()
    stream.once('finish', closeStream)
    // Without a listener, the error would be uncaught if no code reads the body yet.
    raw.on('error', () => {}).destroy(new ApiError('request_timeout'))
  }, ms)
  stream.once('close', () => clearTimeout(timer))
}

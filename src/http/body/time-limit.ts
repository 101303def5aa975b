import { constants, type Http2ServerRequest } from 'node:http2'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors/api-error.ts'

const { NGHTTP2_NO_ERROR, NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE: allOfItCame } = constants

/** Has whoever reads the body of a request fail once it takes too long to come. Node's own time limits are of HTTP/1.1 alone. */
export function limitBody({ raw }: FastifyRequest, ms: number) {
  if (raw.httpVersionMajor !== 2) return
  const { stream } = raw as unknown as Http2ServerRequest
  if (stream.endAfterHeaders) return
  const timer = setTimeout(() => {
    if (stream.destroyed || stream.state.state === allOfItCame) return
    const letGo = () => stream.close(NGHTTP2_NO_ERROR)
    if (stream.writableFinished) return letGo()
    stream.once('finish', letGo)
    // Nobody may be reading it yet.
    raw.on('error', () => {}).destroy(new ApiError('request_timeout'))
  }, ms)
  stream.once('close', () => clearTimeout(timer))
}

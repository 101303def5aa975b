import { parentPort } from 'node:worker_threads'
import scalar from '@scalar/fastify-api-reference'
import Fastify from 'fastify'

/**
 * The thread that loads Scalar's bundle and sends its bytes. Loading the package occupies a thread for 0.3 s and 27 MB. The package has no
 * function that returns the bundle, only a route. A server that never listens executes that route.
 */

const server = Fastify()
await server.register(scalar, { routePrefix: '/scalar', configuration: { url: '/openapi.json' } })
const { statusCode, rawPayload } = await server.inject('/scalar/js/scalar.js')
if (statusCode !== 200) throw new Error(`the package returned ${statusCode} for the bundle of the viewer`)
parentPort?.postMessage(rawPayload)

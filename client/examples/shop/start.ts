import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { tillbridge, verifyWebhook } from '../../src/index.ts'
import { createShop, describeError } from './shop.ts'

// The back end of a small web shop. In your own project, import from 'tillbridge-client'. See README.md in this folder.

const { TILLBRIDGE_URL = 'https://localhost:8443', TILLBRIDGE_API_KEY = '', TILLBRIDGE_SERVICE = 'demo' } = process.env
const { WEBHOOK_SECRET = '', PORT = '3000' } = process.env

const shop = createShop(tillbridge({ url: TILLBRIDGE_URL, apiKey: TILLBRIDGE_API_KEY, service: TILLBRIDGE_SERVICE }))

const server = createServer(async (request, response) => {
  const respond = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const [, page = '', name = ''] = request.url?.split('/') ?? []
  try {
    if (request.method === 'GET' && page === 'stock') {
      const sku = decodeURIComponent(name)
      return respond(200, { sku, units: await shop.getStock(sku) })
    }
    if (request.method === 'POST' && page === 'checkout') {
      const order = await shop.checkOut(JSON.parse(await text(request)), request.socket.remoteAddress ?? '')
      return respond(201, { orderNumber: order.orderNumber, total: order.total })
    }
    if (request.method === 'POST' && page === 'hooks') {
      const delivery = await verifyWebhook(await text(request), request.headers, WEBHOOK_SECRET)
      if (delivery.data.changes.some(({ kind }) => kind === 'inventory')) shop.clearStock()
      return respond(200, {})
    }
    respond(404, { error: 'Page not found.' })
  } catch (error) {
    const [status, message] = page === 'hooks' ? ([400, 'Invalid webhook delivery.'] as const) : describeError(error)
    respond(status, { error: message })
  }
})
server.listen(Number(PORT), 'localhost', () => {
  const address = server.address()
  console.log(`The shop is open on http://localhost:${typeof address === 'object' && address?.port}`)
})

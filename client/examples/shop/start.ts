import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { tillbridge, verifyWebhook } from '../../src/index.ts'
import { makeShop, wordsFor } from './shop.ts'

// The back end of a small web shop. In a project of your own import from 'tillbridge-client'. See README.md beside this file.

const { TILLBRIDGE_URL = 'https://localhost:8443', TILLBRIDGE_API_KEY = '', TILLBRIDGE_SERVICE = 'demo' } = process.env
const { WEBHOOK_SECRET = '', PORT = '3000' } = process.env

const shop = makeShop(tillbridge({ url: TILLBRIDGE_URL, apiKey: TILLBRIDGE_API_KEY, service: TILLBRIDGE_SERVICE }))

const server = createServer(async (request, response) => {
  const answer = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const [, page = '', name = ''] = request.url?.split('/') ?? []
  try {
    if (request.method === 'GET' && page === 'stock') {
      const sku = decodeURIComponent(name)
      return answer(200, { sku, units: await shop.stockOf(sku) })
    }
    if (request.method === 'POST' && page === 'checkout') {
      const order = await shop.checkOut(JSON.parse(await text(request)), request.socket.remoteAddress ?? '')
      return answer(201, { orderNumber: order.orderNumber, total: order.total })
    }
    if (request.method === 'POST' && page === 'hooks') {
      const delivery = await verifyWebhook(await text(request), request.headers, WEBHOOK_SECRET)
      if (delivery.data.changes.some(({ kind }) => kind === 'inventory')) shop.forgetStock()
      return answer(200, {})
    }
    answer(404, { error: 'There is no such page.' })
  } catch (error) {
    const [status, words] = page === 'hooks' ? ([400, 'This is no delivery.'] as const) : wordsFor(error)
    answer(status, { error: words })
  }
})
server.listen(Number(PORT), 'localhost', () => {
  const address = server.address()
  console.log(`The shop is open on http://localhost:${typeof address === 'object' && address?.port}`)
})

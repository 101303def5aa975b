import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { verifyWebhook, WebhookError } from 'tillbridge-client'

const { WEBHOOK_SECRET, PORT = '3000' } = process.env
if (!WEBHOOK_SECRET) throw new Error('WEBHOOK_SECRET must be set.')

createServer(async (request, response) => {
  const body = await buffer(request)
  try {
    const { data } = await verifyWebhook(body, request.headers, WEBHOOK_SECRET)
    // Store the changes and respond. Read the records later, at their `path`.
    for (const { kind, id, action, path } of data.changes ?? []) console.log(kind, id, action, path)
    response.writeHead(204).end()
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error
    response.writeHead(400).end(error.message)
  }
}).listen(Number(PORT))

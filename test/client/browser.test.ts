import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:https'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, normalize } from 'node:path'
import { after, test } from 'node:test'
import { ensureLocalFiles } from '../../src/tls/local-ca.ts'
import { browserMissing, openPage } from '../support/browser.ts'
import { fillShop } from '../support/order-shop.ts'
import { checkout } from '../support/processes.ts'
import { startTestApi } from '../support/service.ts'
import { toApiKey } from './shop.ts'

/** Starts a website that serves the client's source without types, and forwards `/api` to the server. */
async function startSite(target: { baseUrl: string; ca: string }) {
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-site-'))
  const { certFile, keyFile } = ensureLocalFiles(directory)
  const certificate = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
  const server = createServer(certificate, (incoming, outgoing) => {
    const { url = '', method, headers } = incoming
    if (url.startsWith('/api/')) {
      const serverRequest = request(
        target.baseUrl + url.slice(4),
        { method, headers, ca: target.ca, agent: false },
        response => {
          outgoing.writeHead(response.statusCode ?? 502, response.headers)
          response.pipe(outgoing)
        },
      )
      serverRequest.on('error', () => outgoing.destroy())
      outgoing.on('close', () => serverRequest.destroy())
      incoming.pipe(serverRequest)
    } else if (/^\/(client|scripts)\/[\w/-]+\.ts$/.test(url)) {
      const text = stripTypeScriptTypes(readFileSync(join(checkout, normalize(url)), 'utf8'))
      outgoing.writeHead(200, { 'content-type': 'text/javascript' }).end(text)
    } else
      outgoing
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><link rel="icon" href="data:,"><p>A shop')
  })
  server.listen(0, 'localhost')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
    rmSync(directory, { recursive: true })
  })
  return `https://localhost:${(server.address() as AddressInfo).port}`
}

test('the client paginates, writes, follows and verifies in a browser', {
  skip: browserMissing ?? false,
}, async () => {
  const api = await startTestApi()
  after(() => api.stop())
  await fillShop(api.db, api.service)
  const site = await startSite(api)
  const page = await openPage(site)
  after(() => page.close())
  await page.goTo(site)
  const connection = { url: `${site}/api`, apiKey: toApiKey(api), service: api.service.name }
  const outcome = await page.evaluate(
    `import('/scripts/runtimes/program.ts').then(({ program }) => program(${JSON.stringify(connection)}))`,
  )
  assert.deepEqual(outcome, {
    stores: 2,
    title: 'Dr',
    customersWritten: 1,
    missing: 'not_found',
    followed: 'changed',
    rejectedSignature: 'timestamp_off',
  })
  const otherErrors = page.pageErrors.filter(error => !error.includes('404'))
  assert.deepEqual(otherErrors, [])
})

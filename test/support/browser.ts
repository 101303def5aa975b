import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { chromium } from 'playwright-core'
import { ensureLocalCertificate } from '../../src/tls/tls.ts'

/** The executables of Debian's packages. The headless shell starts three times as fast as the complete browser. */
const executables = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const
const executablePath = executables.find(path => existsSync(path)) ?? executables[0]
/** The reason to skip a test if no browser is installed; undefined if one is. */
export const browserMissing = existsSync(executablePath)
  ? undefined
  : `neither ${executables.join(' nor ')} is installed`

/** Time in milliseconds after which a wait for the browser fails. */
const timeoutMs = 85_000
const pollIntervalMs = 50

/** A page in a separate browser. Expressions are JavaScript that the page evaluates. */
export interface Page {
  /** The URLs of all requests and WebSockets, in order. */
  requests: string[]
  /** Uncaught exceptions, and errors and warnings in the developer console, including CSP violations. */
  pageErrors: string[]
  goTo(url: string): Promise<void>
  /** Returns the value of an expression. Awaits a promise. */
  evaluate<T>(expression: string): Promise<T>
  /** Waits until the expression is true. */
  waitUntil(expression: string): Promise<void>
  /** Clicks the element that the expression returns, once it is stable and nothing covers it. */
  click(element: string): Promise<void>
  /** Types into the focused element. */
  type(text: string): Promise<void>
  /** Presses a key on the focused element. */
  pressKey(name: Key, shift?: 'shift'): Promise<void>
  screenshot(): Promise<Buffer>
  /** Sets the size of the window and the preferred colour scheme. */
  setAppearance(appearance: Appearance): Promise<void>
  /** Clears the HTTP cache, as for a first visit. */
  clearCache(): Promise<void>
  /** Disconnects the page from the network, or connects it again. */
  setOffline(isOffline: boolean): Promise<void>
  /** Responds to requests whose URL matches the pattern, instead of the server, `times` times or always. */
  serve(pattern: RegExp, response: ServedResponse, times?: number): Promise<void>
  close(): Promise<void>
}

interface ServedResponse {
  status?: number
  headers?: Record<string, string>
  body: string
}

type Key = 'Tab' | 'Enter' | 'Escape' | 'Space' | 'ArrowDown' | 'ArrowUp' | 'ArrowLeft'

interface Appearance {
  width?: number
  height?: number
  /** The preferred colour scheme. */
  colours?: 'light' | 'dark'
}

interface PageOptions extends Appearance {
  /** Slows the page's CPU down by this factor. */
  slower?: number
}

/** Opens a page of a headless Chromium that trusts the certificate of `baseUrl` and can't resolve any other host. */
export async function openPage(baseUrl: string, { slower = 1, ...appearance }: PageOptions = {}): Promise<Page> {
  const { hostname, port } = new URL(baseUrl)
  const browser = await chromium.launch({
    executablePath,
    timeout: timeoutMs,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${hostname}`,
      // Not `ignoreHTTPSErrors`: with errors ignored, Chromium caches nothing.
      `--ignore-certificate-errors-spki-list=${await fetchKeyDigest(hostname, Number(port))}`,
    ],
  })
  const requests: string[] = []
  const pageErrors: string[] = []

  async function openInstrumentedPage() {
    const page = await browser.newPage({ deviceScaleFactor: 1 })
    page.setDefaultTimeout(timeoutMs)
    page.on('request', request => requests.push(request.url()))
    page.on('websocket', socket => requests.push(socket.url()))
    page.on('pageerror', error => pageErrors.push(error.stack ?? String(error)))
    page.on('console', message => {
      if (['error', 'warning', 'assert'].includes(message.type()))
        pageErrors.push(`${message.type()}: ${message.text()}`)
    })
    const devTools = await page.context().newCDPSession(page)
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: slower })
    return { page, devTools }
  }
  const { page, devTools } = await openInstrumentedPage().catch(async error => {
    await browser.close()
    throw error
  })

  const evaluate = <T>(expression: string): Promise<T> => page.evaluate<T>(expression)

  async function setAppearance({ width = 1360, height = 900, colours = 'light' }: Appearance) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: colours })
  }
  await setAppearance(appearance)

  /** Calls `attempt` until it returns a truthy value. Ignores errors of navigations, which interrupt evaluations. */
  async function poll<T>(expression: string, attempt: () => Promise<T | undefined>): Promise<T> {
    for (const end = Date.now() + timeoutMs; ; ) {
      const result = await attempt().catch(error => {
        if (!isNavigation(error)) throw buildError(error.message)
      })
      if (result) return result
      if (Date.now() > end) throw buildError('timed out')
      await new Promise(resolve => setTimeout(resolve, pollIntervalMs))
    }
    function buildError(message: string) {
      return new Error(`${message}: ${expression}\n${pageErrors.join('\n')}`)
    }
  }

  return {
    requests,
    pageErrors,
    evaluate,
    setAppearance,
    async waitUntil(expression) {
      await poll(expression, () => evaluate<boolean>(`Promise.resolve(${expression}).then(Boolean)`))
    },
    async goTo(url) {
      await page.goto(url)
    },
    async click(element) {
      await poll(element, async () => {
        const handle = (await page.evaluateHandle(element)).asElement()
        await handle?.click({ timeout: 5_000 })
        return handle !== null
      })
    },
    pressKey: (name, shift) => page.keyboard.press(shift ? `Shift+${name}` : name),
    type: text => page.keyboard.insertText(text),
    async clearCache() {
      await devTools.send('Network.clearBrowserCache')
    },
    setOffline: isOffline => page.context().setOffline(isOffline),
    async serve(pattern, response, times) {
      await page.route(pattern, route => route.fulfill(response), times === undefined ? {} : { times })
    },
    async screenshot() {
      // Moves the mouse away, so that no element is shown as hovered.
      await page.mouse.move(0, 0)
      return page.screenshot()
    },
    close: () => browser.close(),
  }
}

/** True if the page went to another address, or replaced the element, while the call ran. */
const isNavigation = (error: Error) =>
  /Execution context was destroyed|navigat|Cannot find context|not attached|Timeout 5000ms/i.test(error.message)

/** Returns the SHA-256 digest of a server's public key, by which Chromium trusts it. */
async function fetchKeyDigest(host: string, port: number) {
  const socket = connect({ host, port, servername: host, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { raw } = socket.getPeerCertificate()
  socket.destroy()
  const key = new X509Certificate(raw).publicKey.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(key).digest('base64')
}

/** Serves an HTML document and opens it in a page. Closes both after `work`. */
export async function withHtmlPage(html: string, appearance: Appearance, work: (page: Page) => Promise<void>) {
  const directory = mkdtempSync(join(tmpdir(), 'tillbridge-html-'))
  const { cert, key } = ensureLocalCertificate(directory)
  const server = createServer({ cert, key }, (_, response) =>
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const baseUrl = `https://localhost:${(server.address() as AddressInfo).port}`
  try {
    const page = await openPage(baseUrl, appearance)
    try {
      await page.goTo(baseUrl)
      await work(page)
    } finally {
      await page.close()
    }
  } finally {
    server.closeAllConnections()
    server.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

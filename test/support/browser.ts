import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyDigest, listener, patienceMs, speak } from './browser/wire.ts'

/** The first is Chromium without what is around its pages: it starts in a third of the time. */
const places = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const
const chromium = places.find(place => existsSync(place)) ?? places[0]
/** Why there is no browser here; undefined where there is one. */
export const browserMissing = existsSync(chromium) ? undefined : `neither ${places.join(' nor ')} is installed`

/** One page of a browser, and what it did. */
export interface Page {
  /** The addresses of all requests, in their order. */
  requests: string[]
  /** Errors and warnings of the console, the content security policy's included, and exceptions. */
  complaints: string[]
  goTo(url: string): Promise<void>
  /** The value of an expression in the page; a promise is waited for. */
  evaluate<T>(expression: string): Promise<T>
  /** Waits until the expression holds. */
  until(expression: string): Promise<void>
  /** Clicks the element that the expression names. */
  click(element: string): Promise<void>
  type(text: string): Promise<void>
  /** Presses a key, where the focus is. */
  key(name: keyof typeof keys, shift?: 'shift'): Promise<void>
  screenshot(): Promise<Buffer>
  /** From now on the window is as large, and the reader prefers these colours. */
  appear(looks: Looks): Promise<void>
  /** Forgets what it has kept of pages: the next one comes as to somebody who was never there. */
  forgetPages(): Promise<void>
  close(): Promise<void>
}

/** Keys as the DevTools protocol names them, and what they type. */
const keys = {
  Tab: { windowsVirtualKeyCode: 9 },
  Enter: { windowsVirtualKeyCode: 13, text: '\r' },
  Escape: { windowsVirtualKeyCode: 27 },
  Space: { windowsVirtualKeyCode: 32, text: ' ' },
  ArrowDown: { windowsVirtualKeyCode: 40 },
}

interface Looks {
  width?: number
  height?: number
  /** The colours that the reader is said to prefer. */
  colours?: 'light' | 'dark'
}

interface Opening extends Looks {
  /** How many times slower than this one the reader's machine is. */
  slower?: number
}

/** Opens a headless Chromium that trusts the certificate of `baseUrl`, and finds no other host than that one. */
export async function openPage(baseUrl: string, { slower = 1, ...looks }: Opening = {}): Promise<Page> {
  const { hostname, port } = new URL(baseUrl)
  const profile = mkdtempSync(join(tmpdir(), 'tillbridge-browser-'))
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--hide-scrollbars',
    `--user-data-dir=${profile}`,
    `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${hostname}`,
    `--ignore-certificate-errors-spki-list=${await keyDigest(hostname, Number(port))}`,
    '--remote-debugging-pipe',
  ]
  const browser = spawn(chromium, flags, {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: profile },
  })
  const ended = once(browser, 'exit')
  const page = { requests: [] as string[], complaints: [] as string[] }
  const heard = listener(page)
  const wire = speak(browser, heard)

  async function close() {
    const impatience = setTimeout(() => browser.kill('SIGKILL'), 10_000)
    await wire('Browser.close', {}).catch(() => {})
    await ended
    clearTimeout(impatience)
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }

  async function begin() {
    const { targetId } = await wire('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await wire('Target.attachToTarget', { targetId, flatten: true })
    const send = (method: string, params = {}) => wire(method, params, sessionId)
    for (const domain of ['Network', 'Runtime', 'Log', 'Page']) await send(`${domain}.enable`)
    await send('Emulation.setCPUThrottlingRate', { rate: slower })
    await appearAs(send, looks)
    return send
  }
  const send = await begin().catch(async error => {
    await close()
    throw error
  })

  async function evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }

  /** A page that goes elsewhere takes the promise that waits in it along: then the next page is asked. */
  const navigated = (error: Error) =>
    /navigated or closed|context was destroyed|Cannot find context/.test(error.message)

  async function until(expression: string): Promise<void> {
    const end = Date.now() + patienceMs - 5_000
    const look = `new Promise((done, fail) => {
      const look = () => (${expression}) ? done() : Date.now() > ${end} ? fail(new Error('waited in vain')) : setTimeout(look, 50)
      look()
    })`
    for (;;) {
      try {
        return await evaluate<void>(look)
      } catch (error) {
        if (navigated(error as Error) && Date.now() < end) continue
        throw new Error(`${(error as Error).message}: ${expression}\n${page.complaints.join('\n')}`)
      }
    }
  }

  return {
    ...page,
    evaluate,
    until,
    async goTo(url) {
      const { errorText } = await send('Page.navigate', { url })
      if (errorText) throw new Error(`${url}: ${errorText}`)
      await until("document.readyState === 'complete'")
    },
    async click(element) {
      // Where it stands still, with nothing before it: pages move while they load.
      const { x, y } = await evaluate<{ x: number; y: number }>(`(async () => {
        let last
        for (const end = Date.now() + ${patienceMs - 5_000}; Date.now() < end; await new Promise(done => setTimeout(done, 150))) {
          const element = ${element}
          if (!element) continue
          const { left, top, width, height } = element.getBoundingClientRect()
          const at = { x: left + width / 2, y: top + height / 2 }
          const hit = document.elementFromPoint(at.x, at.y)
          if (hit && element.contains(hit) && last?.x === at.x && last?.y === at.y) return at
          if (!hit || !element.contains(hit)) element.scrollIntoView({ block: 'center', behavior: 'instant' })
          last = at
        }
        throw new Error('it cannot be clicked')
      })()`)
      const at = { x, y, button: 'left', clickCount: 1 }
      await send('Input.dispatchMouseEvent', { type: 'mousePressed', ...at })
      await send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...at })
    },
    async key(name, shift) {
      const key = { ...keys[name], key: name === 'Space' ? ' ' : name, code: name, modifiers: shift ? 8 : 0 }
      await send('Input.dispatchKeyEvent', { type: 'keyDown', ...key })
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...key })
    },
    appear: looks => appearAs(send, looks),
    forgetPages: () => send('Network.clearBrowserCache'),
    async type(text) {
      await send('Input.insertText', { text })
    },
    async screenshot() {
      // Nothing is shown as it is under the mouse.
      await send('Input.dispatchMouseEvent', { type: 'mouseMoved', x: 0, y: 0 })
      const { data } = await send('Page.captureScreenshot', { format: 'png' })
      return Buffer.from(data, 'base64')
    },
    close,
  }
}

async function appearAs(
  send: (method: string, params: object) => Promise<unknown>,
  { width = 1360, height = 900, colours = 'light' }: Looks,
) {
  await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
  await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: colours }] })
}

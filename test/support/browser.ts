import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { connect } from 'node:tls'

const chromium = '/usr/bin/chromium'
/** Why there is no browser here; undefined where there is one. */
export const browserMissing = existsSync(chromium) ? undefined : `${chromium} is not installed`

const patienceMs = 90_000

// biome-ignore lint/suspicious/noExplicitAny: the protocol's answers, read where they are expected
type Message = any

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

interface Opening {
  width?: number
  height?: number
  /** The colours that the reader is said to prefer. */
  colours?: 'light' | 'dark'
  /** How many times slower than this one the reader's machine is. */
  slower?: number
}

/** Opens a headless Chromium that trusts the certificate of `baseUrl`, and finds no other host than that one. */
export async function openPage(
  baseUrl: string,
  { width = 1360, height = 900, colours = 'light', slower = 1 }: Opening = {},
): Promise<Page> {
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
    await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
    await send('Emulation.setCPUThrottlingRate', { rate: slower })
    await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: colours }] })
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
    async type(text) {
      await send('Input.insertText', { text })
    },
    async screenshot() {
      const { data } = await send('Page.captureScreenshot', { format: 'png' })
      return Buffer.from(data, 'base64')
    },
    close,
  }
}

/** Notes what the page asks for and complains of. */
const listener =
  ({ requests, complaints }: { requests: string[]; complaints: string[] }) =>
  (method: string, params: Message) => {
    if (method === 'Network.requestWillBeSent') requests.push(params.request.url)
    if (method === 'Network.webSocketCreated') requests.push(params.url)
    if (method === 'Runtime.exceptionThrown')
      complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text)
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params.type))
      complaints.push(`${params.type}: ${params.args.map((arg: Message) => arg.value ?? arg.description).join(' ')}`)
    if (method === 'Log.entryAdded' && ['error', 'warning'].includes(params.entry.level))
      complaints.push(`${params.entry.level}: ${params.entry.text}`)
  }

/** The DevTools protocol over the browser's pipes: JSON messages, each ended by a zero byte. */
function speak(browser: ChildProcess, heard: (method: string, params: Message) => void) {
  const [, , , input, output] = browser.stdio as unknown as [null, null, null, Writable, Readable]
  const waiting = new Map<number, { resolve(result: Message): void; reject(error: Error): void }>()
  let last = 0
  let rest = ''
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\0')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const { id, result, error, method, params } = JSON.parse(part)
      if (id === undefined) heard(method, params)
      else if (error) waiting.get(id)?.reject(new Error(error.message))
      else waiting.get(id)?.resolve(result)
      waiting.delete(id)
    }
  })
  const end = () => {
    for (const { reject } of waiting.values()) reject(new Error('the browser has ended'))
    waiting.clear()
  }
  browser.on('exit', end)
  input.on('error', end)
  return (method: string, params: object, sessionId?: string) => {
    const id = ++last
    const { promise, resolve, reject } = Promise.withResolvers<Message>()
    const timer = setTimeout(() => reject(new Error(`${method} took longer than ${patienceMs} ms`)), patienceMs)
    waiting.set(id, { resolve, reject })
    input.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`)
    return promise.finally(() => clearTimeout(timer))
  }
}

/** The digest by which Chromium is told to trust a server's key. */
async function keyDigest(host: string, port: number) {
  const socket = connect({ host, port, servername: host, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { raw } = socket.getPeerCertificate()
  socket.destroy()
  const key = new X509Certificate(raw).publicKey.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(key).digest('base64')
}

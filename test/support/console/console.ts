import { createLink } from '../../../src/auth/sessions.ts'
import { openPage, type Page } from '../browser.ts'
import type { Caller, TestApi } from '../service.ts'

export interface Console extends Page {
  /** Opens a screen by its route: `webhooks`, `search/order/4711`. */
  show(screen: string): Promise<void>
  /** Waits until the page contains this text. */
  waitForText(text: string): Promise<void>
  /** Clicks the last enabled button or link with this name. */
  press(name: string): Promise<void>
  /** Presses Export CSV of the table whose caption begins with `caption`, or of the last table. Returns the file's content. */
  exportCsv(caption?: string): Promise<string>
  /** Presses the last button whose label begins with `label`. Returns the content of the file that it saves. */
  download(label: string): Promise<string>
  fill(label: string, text: string): Promise<void>
  readField(label: string): Promise<string>
  /** Drops a file on the drop area. */
  drop(name: string, bytes: Buffer): Promise<void>
  /** Holds the next request whose path contains this text, even if the page aborts it. */
  holdRequest(path: string): Promise<HeldRequest>
}

interface HeldRequest {
  /** Resolves when the page has sent the request. */
  sent(): Promise<void>
  /** Lets the request go, and gives the page time to handle its response. */
  release(): Promise<void>
}

/** The route in the address, without the service: `#webhooks`. */
export const route = `location.hash.replace(/^#\\/[^/]+\\//, '#')`

/** The usable part of the page: the open dialog, if any. */
const scope = `(document.querySelector('dialog[open]') ?? document)`

/** Finds the last enabled button or link by its accessible name. */
const findButton = (name: string) =>
  `[...${scope}.querySelectorAll('button, a')].filter(element => (element.ariaLabel ?? element.innerText.trim()) === ${JSON.stringify(name)} && !element.disabled && !element.ariaDisabled).at(-1)`

/**
 * Opens a browser that is signed in to the console with a one-time link.
 * @param prepare called before the console is loaded
 */
export async function openConsole(
  api: TestApi,
  caller: Caller,
  options: Parameters<typeof openPage>[1] = {},
  prepare: (page: Page) => Promise<void> = async () => {},
): Promise<Console> {
  const page = await openPage(api.baseUrl, options)
  try {
    await prepare(page)
    const link = await createLink(api.db, api.keys, caller.username)
    await page.goTo(`${api.baseUrl}/console#link=${link}`)
    await page.waitUntil(`document.querySelector('nav')`)
    return toConsole(page)
  } catch (error) {
    await page.close()
    throw error
  }
}

/** Adds functions that find elements by their visible text. */
export function toConsole(page: Page): Console {
  const findField = (label: string) =>
    `[...${scope}.querySelectorAll('input, select, textarea')].filter(element => (element.ariaLabel ?? element.labels?.[0]?.innerText.trim().split('\\n')[0]) === ${JSON.stringify(label)}).at(-1)`
  async function download(label: string) {
    await page.evaluate(`globalThis.saved = undefined
      URL.createObjectURL = blob => (blob.text().then(text => { saved = text }), '#')
      HTMLAnchorElement.prototype.click = () => {}`)
    const button = `[...document.querySelectorAll('button[aria-label^=${JSON.stringify(label)}]')].at(-1)`
    await page.waitUntil(button)
    await page.click(button)
    await page.waitUntil('globalThis.saved !== undefined')
    return page.evaluate<string>('saved')
  }
  const press = (name: string) => page.waitUntil(findButton(name)).then(() => page.click(findButton(name)))
  return {
    ...page,
    press,
    download,
    exportCsv: (caption = '') => download(`Export CSV: ${caption}`),
    async holdRequest(path) {
      await page.evaluate(`(() => {
        const realFetch = fetch
        globalThis.release = undefined
        globalThis.fetch = (path, options) => {
          if (!path.includes(${JSON.stringify(path)})) return realFetch(path, options)
          globalThis.fetch = realFetch
          const { signal, ...unaborted } = options
          globalThis.late = new Promise(resolve => { globalThis.release = resolve }).then(() => realFetch(path, unaborted))
          return late
        }
      })()`)
      return {
        sent: () => page.waitUntil('globalThis.release'),
        release: () =>
          page.evaluate(`(async () => {
            release()
            await late
            await new Promise(resolve => setTimeout(resolve, 300))
          })()`),
      }
    },
    async show(screen) {
      // Waits for the change, so that the next step doesn't see the previous screen.
      await page.evaluate(`new Promise(done => {
        const hash = ${JSON.stringify(`#${screen}`)}
        if (location.hash === hash) return done()
        addEventListener('hashchange', () => setTimeout(done), { once: true })
        location.hash = hash
      })`)
      await page.waitUntil(`document.querySelector('main h1')`)
    },
    waitForText: text => page.waitUntil(`document.body.innerText.includes(${JSON.stringify(text)})`),
    readField: label => page.evaluate<string>(`${findField(label)}.value`),
    drop: (name, bytes) =>
      page.evaluate(`(() => {
        const data = new DataTransfer()
        const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), character => character.charCodeAt(0))
        data.items.add(new File([bytes], ${JSON.stringify(name)}))
        document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
      })()`),
    async fill(label, text) {
      await page.waitUntil(findField(label))
      await page.evaluate(`(() => {
        const input = ${findField(label)}
        const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value')
        set.call(input, ${JSON.stringify(text)})
        for (const type of ['input', 'change']) input.dispatchEvent(new Event(type, { bubbles: true }))
      })()`)
    },
  }
}

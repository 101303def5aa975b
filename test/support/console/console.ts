import { createLink } from '../../../src/auth/sessions.ts'
import { openPage, type Page } from '../browser.ts'
import type { Caller, TestService } from '../service.ts'

export interface Console extends Page {
  /** Goes to a screen by its place in the address: `webhooks`, `search/order/4711`. */
  show(place: string): Promise<void>
  /** Waits until the page says so. */
  says(words: string): Promise<void>
  /** Clicks the button or link of this name, the last one where there are several. */
  press(name: string): Promise<void>
  /** Presses Export CSV of the table with this caption, or of the last one; returns what would be saved. */
  exported(caption?: string): Promise<string>
  /** Puts a text into the field with this label. */
  fill(label: string, text: string): Promise<void>
  /** What the field with this label says. */
  filled(label: string): Promise<string>
  /** Drops a file where one may be dropped, as from a folder. */
  drop(name: string, bytes: Buffer): Promise<void>
}

/** What can be used: of a page with an open dialog the dialog alone. */
const open = `(document.querySelector('dialog[open]') ?? document)`

/** What a person would call a button or link. */
const named = (name: string) =>
  `[...${open}.querySelectorAll('button, a')].filter(each => (each.ariaLabel ?? each.innerText.trim()) === ${JSON.stringify(name)} && !each.disabled && !each.ariaDisabled).at(-1)`

/** A browser that is signed in to the console, by a one-time link. */
export async function openConsole(
  service: TestService,
  caller: Caller,
  opening: Parameters<typeof openPage>[1] = {},
): Promise<Console> {
  const page = await openPage(service.baseUrl, opening)
  try {
    const link = await createLink(service.db, service.keys, caller.username)
    await page.goTo(`${service.baseUrl}/console#link=${link}`)
    await page.until(`document.querySelector('nav')`)
    return withWords(page)
  } catch (error) {
    await page.close()
    throw error
  }
}

/** The page, by what a person reads in it. */
export function withWords(page: Page): Console {
  const field = (label: string) =>
    `[...${open}.querySelectorAll('input, select, textarea')].filter(each => (each.ariaLabel ?? each.labels?.[0]?.innerText.trim().split('\\n')[0]) === ${JSON.stringify(label)}).at(-1)`
  const press = (name: string) => page.until(named(name)).then(() => page.click(named(name)))
  return {
    ...page,
    press,
    async exported(caption = '') {
      await page.evaluate(`globalThis.saved = undefined
        URL.createObjectURL = blob => (blob.text().then(text => { saved = text }), '#')
        HTMLAnchorElement.prototype.click = () => {}`)
      const button = `[...document.querySelectorAll('button[aria-label^=${JSON.stringify(`Export CSV: ${caption}`)}]')].at(-1)`
      await page.until(button)
      await page.click(button)
      await page.until('globalThis.saved !== undefined')
      return page.evaluate<string>('saved')
    },
    async show(place) {
      // Where it was shown before, what is seen next could still be of there.
      await page.evaluate(`new Promise(done => {
        const hash = ${JSON.stringify(`#${place}`)}
        if (location.hash === hash) return done()
        addEventListener('hashchange', () => setTimeout(done), { once: true })
        location.hash = hash
      })`)
      await page.until(`document.querySelector('main h1')`)
    },
    says: words => page.until(`document.body.innerText.includes(${JSON.stringify(words)})`),
    filled: label => page.evaluate<string>(`${field(label)}.value`),
    drop: (name, bytes) =>
      page.evaluate(`(() => {
        const data = new DataTransfer()
        const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), each => each.charCodeAt(0))
        data.items.add(new File([bytes], ${JSON.stringify(name)}))
        document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
      })()`),
    async fill(label, text) {
      await page.until(field(label))
      await page.evaluate(`(() => {
        const input = ${field(label)}
        const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value')
        set.call(input, ${JSON.stringify(text)})
        for (const type of ['input', 'change']) input.dispatchEvent(new Event(type, { bubbles: true }))
      })()`)
    },
  }
}

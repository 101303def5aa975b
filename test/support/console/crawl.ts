import type { Role } from '../../../src/domain/accounts.ts'
import type { Console } from './console.ts'

interface Screen {
  path: string
  title: string
  role: Role
}
/** The screens of the console, by its own list of them. */
export const { pages: screens }: { pages: Screen[] } = await import(
  new URL('../../../console/pages.js', import.meta.url).href
)

/** What holds of a place once all of it is there. */
const settled = `document.querySelector('main h1') && !document.querySelector('main .opening') && !document.querySelector('[aria-busy="true"]')`

/** Goes to a place of the console, and waits for what it shows. */
export async function lookAt(page: Console, place: string) {
  await page.show(place)
  await page.until(settled)
}

/** What kind of place it is: `requests/4f48…` and `requests/9d5f…` are of one, a sync as good as another, one form of a list as well. */
function kindOf(place: string) {
  const [screen, ...parts] = place.split('/')
  if (screen === 'syncs' || screen === 'import') return [screen, ...parts.map(() => 'x')].join('/')
  return [
    screen,
    ...parts.map(part => (/^[a-z-]+$/i.test(part) ? part : part.startsWith('sku%3A') ? 'sku' : 'x')),
  ].join('/')
}

/**
 * Goes to each kind of place of the console that whoever is signed in can come to, once: all screens, what their links lead to, and what
 * those lead to; and to `further` ones, which no link may show.
 * @param at told once all of a place is there
 */
export async function everyPlace(page: Console, further: readonly string[], at: (place: string) => Promise<void>) {
  const found = new Set<string>()
  const ahead = [...screens.map(({ path }) => path), ...further]
  for (let place = ahead.shift(); place !== undefined; place = ahead.shift()) {
    if (found.has(kindOf(place))) continue
    found.add(kindOf(place))
    await lookAt(page, place)
    await at(place)
    const links = await page.evaluate<string[]>(
      `[...document.querySelectorAll('main a[href^="#"]')].map(link => link.hash.slice(1))`,
    )
    ahead.push(...links.filter(link => link && !found.has(kindOf(link))))
  }
}

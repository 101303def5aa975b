import type { Role } from '../../../src/domain/accounts.ts'
import type { Console } from './console.ts'

interface Screen {
  path: string
  title: string
  role: Role
  needsServices?: boolean
}
/** The console's own list of screens. */
export const { pages: screens }: { pages: Screen[] } = await import(
  new URL('../../../console/pages.js', import.meta.url).href
)

/** True if a screen has loaded completely. */
const isLoaded = `document.querySelector('main h1') && !document.querySelector('main .opening') && !document.querySelector('[aria-busy="true"]')`

/** Opens a screen and waits until it has loaded. */
export async function openScreen(page: Console, route: string) {
  await page.show(route)
  await page.waitUntil(isLoaded)
}

/** Returns the kind of screen of a route. For instance, all requests have the same kind, and so have all syncs. */
function toScreenKind(route: string) {
  const [screen, ...parts] = (route.split('?')[0] ?? '').split('/')
  if (screen === 'syncs' || screen === 'import') return [screen, ...parts.map(() => 'x')].join('/')
  return [
    screen,
    ...parts.map(part => (/^[a-z-]+$/i.test(part) ? part : part.startsWith('sku%3A') ? 'sku' : 'x')),
  ].join('/')
}

/**
 * Opens each kind of screen once: all screens, everything that they link to, and `extraRoutes`, which may have no link.
 * @param visit called when a screen has loaded
 */
export async function crawlScreens(
  page: Console,
  extraRoutes: readonly string[],
  visit: (route: string) => Promise<void>,
) {
  const visited = new Set<string>()
  const queue = [...screens.map(({ path }) => path), ...extraRoutes]
  for (let route = queue.shift(); route !== undefined; route = queue.shift()) {
    if (visited.has(toScreenKind(route))) continue
    visited.add(toScreenKind(route))
    await openScreen(page, route)
    await visit(route)
    const links = await page.evaluate<string[]>(
      `[...document.querySelectorAll('main a[href^="#"]')].map(link => link.hash.replace(/^#(\\/[^/]+\\/)?/, ''))`,
    )
    queue.push(...links.filter(link => link && !visited.has(toScreenKind(link))))
  }
}

import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from './components/button.js'
import { Problem } from './components/problem.js'
import { useAction } from './components/use-load.js'
import { html } from './lib/html.js'
import { includesRole, RoleContext } from './lib/role.js'
import { linkTo, useRoute } from './lib/route.js'
import { pages } from './pages.js'

/**
 * The frame around the screens: which service, which screen, who.
 * @param {{ signedIn: import('./lib/role.js').SignedIn, service: { name: string, role: string }, choose: (name: string) => void, leave: () => Promise<void> }} props
 */
export function Frame({ signedIn, service, choose, leave }) {
  const [asked = '', ...rest] = useRoute()
  const open = pages.filter(({ role }) => includesRole(service.role, role))
  const current = open.find(({ path }) => path === asked) ?? open[0]
  const record = rest.join(' ')
  const heading = useRef(/** @type {HTMLElement | null} */ (null))
  const shown = useRef(/** @type {string | undefined} */ (undefined))
  const leaving = useAction()
  useEffect(() => {
    document.title = [record, current?.title, service.name, 'Tillbridge'].filter(Boolean).join(' · ')
    const isFirst = shown.current === undefined
    const isOther = shown.current !== current?.path
    shown.current = current?.path
    // Whoever hears the page is told where they are now, also where the link that they followed is gone with its list.
    if (!isFirst && (isOther || document.activeElement === document.body)) heading.current?.focus()
    // Where the screens stand in one row, which is wider than the page.
    if (isOther) document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current?.path, record])

  return html`<${RoleContext.Provider} value=${service.role}>
    <a class="skip" href="#content" onClick=${(/** @type {Event} */ event) => {
      event.preventDefault()
      heading.current?.focus()
    }}>Skip to the content</a>
    <header class="bar">
      <a class="brand" href="#"><img src="docs/icon.svg" alt="" /> Tillbridge</a>
      <${Services} services=${signedIn.services} service=${service} choose=${choose} />
      <span class="who">${signedIn.username} <small>${service.role}</small></span>
      <${Button} class="quiet" label="Sign out" doing="Sign out" busy=${leaving.busy} onClick=${() => leaving.run(leave)} />
    </header>
    <nav aria-label="Screens">
      <ul>
        ${open.map(
          ({ path, title }) =>
            html`<li key=${path}><a href=${linkTo(path)} aria-current=${path === current?.path ? 'page' : undefined}>${title}</a></li>`,
        )}
      </ul>
    </nav>
    <main id="content" tabindex="-1" ref=${heading}>
      ${leaving.error && html`<${Problem} error=${leaving.error} />`}
      ${current && html`<${LoadedScreen} key=${current.path} load=${current.load} parts=${rest} />`}
    </main>
  <//>`
}

/** @param {{ services: { name: string }[], service: { name: string }, choose: (name: string) => void }} props */
function Services({ services, service, choose }) {
  if (services.length === 1) return html`<span class="service">${service.name}</span>`
  return html`<select
    class="service"
    aria-label="Service"
    value=${service.name}
    onChange=${(/** @type {{ currentTarget: HTMLSelectElement }} */ { currentTarget }) => choose(currentTarget.value)}
  >
    ${services.map(({ name }) => html`<option key=${name}>${name}</option>`)}
  </select>`
}

/** A screen, whose module is loaded when it is first looked at. @param {{ load: () => Promise<any>, parts: string[] }} props */
function LoadedScreen({ load, parts }) {
  const [found, setFound] = useState(/** @type {{ Screen?: any, error?: Error }} */ ({}))
  useEffect(() => {
    load().then(
      ({ Screen }) => setFound({ Screen }),
      error => setFound({ error }),
    )
  }, [])
  if (found.error) return html`<${Problem} error=${found.error} />`
  return found.Screen ? html`<${found.Screen} parts=${parts} />` : html`<p class="opening" role="status">Loading…</p>`
}
